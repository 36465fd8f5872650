import { TextInput } from "@mantine/core";
import { useList } from "../../live/use-list.ts";
import { Blank } from "../../parts/blank.tsx";
import { Listed } from "../../parts/listed.tsx";
import { StatusSelect } from "../../parts/status-select.tsx";
import { navigate, useSearch } from "../../shell/navigation.tsx";
import { addressOfFlows, type FlowFilter, flowFilterOf, queryOf } from "../../store/flow-filter.ts";
import { FLOW_LOOKS } from "../../store/flow-looks.ts";
import { FlowTable } from "./flow-table.tsx";
import css from "./flows.module.css";

/** Tasks that wait for each other: how far each of them is. The newest first. */
export default function Flows() {
  const search = useSearch();
  const filter = flowFilterOf(search);
  const list = useList("listFlows", queryOf(filter), search);
  const narrow = (change: Partial<FlowFilter>) => {
    list.restart();
    navigate(addressOfFlows({ ...filter, ...change }), { replace: true });
  };
  return (
    <>
      <h1>Flows</h1>
      <FilterBar filter={filter} onChange={narrow} />
      <Listed what="The flows" list={list} none={<None isNarrowed={filter.status !== "" || filter.name !== ""} />}>
        {(flows) => <FlowTable flows={flows} nowMs={list.nowMs} />}
      </Listed>
    </>
  );
}

function FilterBar({ filter, onChange }: { filter: FlowFilter; onChange: (change: Partial<FlowFilter>) => void }) {
  return (
    <search className={css.filter}>
      <StatusSelect value={filter.status} looks={FLOW_LOOKS} onChange={(status) => onChange({ status })} />
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
      <Blank title="No flow matches">
        <p>Names must match in full. Flows that have ended are forgotten after some days.</p>
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
