import { NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAnswer } from "../../live/use-answer.ts";
import { useShownNow } from "../../live/use-now.ts";
import { Blank } from "../../parts/blank.tsx";
import { FoundCount } from "../../parts/found-count.tsx";
import { Pager, usePages } from "../../parts/pager.tsx";
import { Unanswered } from "../../parts/unanswered.tsx";
import { navigate, useSearch } from "../../shell/navigation.tsx";
import { addressOfFlows, type FlowFilter, flowFilterOf, queryOf } from "../../store/flow-filter.ts";
import { FLOW_LOOKS, FLOW_SHOWN } from "../../store/flow-looks.ts";
import { FlowTable } from "./flow-table.tsx";
import css from "./flows.module.css";

const LOOK_EVERY_MS = 2_000;
const PAGE = 100;
/** What one call answers at most. */
const MOST = 1_000;

/** Tasks that wait for each other: how far each of them is. The newest first. */
export default function Flows() {
  const search = useSearch();
  const filter = flowFilterOf(search);
  const [limit, setLimit] = useState(PAGE);
  const pages = usePages(search);
  const nowMs = useShownNow(LOOK_EVERY_MS);
  const query = { ...queryOf(filter, limit), ...pages.query };
  const answer = useAnswer("listFlows", { query }, nowMs);
  const { data, failure, reload } = answer;
  // An answer that was cut before it was as long as asked for would be no longer with more: what is beyond is on the next page.
  const canGrow = data !== null && limit < MOST && data.items.length >= limit;
  const narrow = (change: Partial<FlowFilter>) => {
    setLimit(PAGE);
    navigate(addressOfFlows({ ...filter, ...change }), { replace: true });
  };
  return (
    <>
      <h1>Flows</h1>
      <FilterBar filter={filter} onChange={narrow} />
      {data === null && <Unanswered what="The flows" height="20rem" failure={failure} onRetry={reload} />}
      {data !== null && (
        <>
          <FoundCount shown={pages.rowsBefore + data.items.length} of={data} answer={answer} />
          {data.items.length === 0 ? (
            <None isNarrowed={filter.status !== "" || filter.name !== ""} />
          ) : (
            <FlowTable flows={data.items} nowMs={nowMs} />
          )}
          <Pager
            pages={pages}
            page={data}
            onMore={canGrow ? () => setLimit(Math.min(MOST, limit * 3)) : undefined}
            isTurning={answer.isTurning}
          />
        </>
      )}
    </>
  );
}

function FilterBar({ filter, onChange }: { filter: FlowFilter; onChange: (change: Partial<FlowFilter>) => void }) {
  return (
    <search className={css.filter}>
      <NativeSelect
        label="Status"
        value={filter.status}
        onChange={(event) => onChange({ status: event.currentTarget.value as FlowFilter["status"] })}
        data={[
          { value: "", label: "any" },
          ...FLOW_SHOWN.map((value) => ({ value, label: `${value}: ${FLOW_LOOKS[value].meaning}` })),
        ]}
      />
      <TextInput
        label="Name"
        placeholder="any"
        value={filter.name}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
    </search>
  );
}

function None({ isNarrowed }: { isNarrowed: boolean }) {
  if (isNarrowed)
    return (
      <Blank title="No flow is like that">
        <p>A name is looked for whole. What has ended is forgotten after some days.</p>
      </Blank>
    );
  return (
    <Blank title="There are no flows yet">
      <p>
        A flow is tasks that wait for each other: <code>POST /api/v1/flows</code> with{" "}
        <code>{'{"stages": ["fetch", "parse", "store"]}'}</code>.
      </p>
    </Blank>
  );
}
