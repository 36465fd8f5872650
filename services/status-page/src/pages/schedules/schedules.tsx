import { NativeSelect, TextInput } from "@mantine/core";
import type { ScheduleStatusName } from "@unacked/contracts";
import { useState } from "react";
import { useAnswer } from "../../live/use-answer.ts";
import { useShownNow } from "../../live/use-now.ts";
import { ActionButton } from "../../parts/action-button.tsx";
import { Blank } from "../../parts/blank.tsx";
import { FoundCount } from "../../parts/found-count.tsx";
import { Pager, usePages } from "../../parts/pager.tsx";
import { Unanswered } from "../../parts/unanswered.tsx";
import { navigate, useSearch } from "../../shell/navigation.tsx";
import { SCHEDULE_LOOKS, SCHEDULE_SHOWN } from "../../store/schedule-looks.ts";
import { CreateScheduleDialog } from "./create-schedule-dialog.tsx";
import { ScheduleTable } from "./schedule-table.tsx";
import css from "./schedules.module.css";

const LOOK_EVERY_MS = 2_000;
const PAGE = 100;
/** What one call answers at most. */
const MOST = 1_000;

interface Filter {
  status: ScheduleStatusName | "";
  q: string;
}

function filterOf(search: string): Filter {
  const given = new URLSearchParams(search);
  return { status: SCHEDULE_SHOWN.find((one) => one === given.get("status")) ?? "", q: given.get("q")?.trim() ?? "" };
}

/** What happens by the calendar: when next, and what became of the last time. */
export default function Schedules() {
  const search = useSearch();
  const filter = filterOf(search);
  const { status, q } = filter;
  const [limit, setLimit] = useState(PAGE);
  const pages = usePages(search);
  const [isNew, setNew] = useState(false);
  const nowMs = useShownNow(LOOK_EVERY_MS);
  const query = { limit, ...(status !== "" && { status: [status] }), ...(q !== "" && { q }), ...pages.query };
  const answer = useAnswer("listSchedules", { query }, nowMs);
  const { data, failure, reload } = answer;
  // An answer that was cut before it was as long as asked for would be no longer with more: what is beyond is on the next page.
  const canGrow = data !== null && limit < MOST && data.items.length >= limit;
  const narrow = (change: Partial<Filter>) => {
    setLimit(PAGE);
    const given = Object.entries({ ...filter, ...change }).filter(([, value]) => value !== "");
    navigate(given.length === 0 ? "/schedules" : `/schedules?${new URLSearchParams(given)}`, { replace: true });
  };
  return (
    <>
      <div className={css.head}>
        <h1>Schedules</h1>
        <ActionButton call="putSchedule" size="compact-md" onClick={() => setNew(true)}>
          New schedule
        </ActionButton>
      </div>
      {isNew && <CreateScheduleDialog onClose={() => setNew(false)} />}
      <search className={css.filter}>
        <NativeSelect
          label="Status"
          value={status}
          onChange={(event) => narrow({ status: event.currentTarget.value as Filter["status"] })}
          data={[
            { value: "", label: "any" },
            ...SCHEDULE_SHOWN.map((value) => ({ value, label: `${value}: ${SCHEDULE_LOOKS[value].meaning}` })),
          ]}
        />
        <TextInput
          label="Id has"
          placeholder="any"
          value={q}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => narrow({ q: event.currentTarget.value.trim() })}
        />
      </search>
      {data === null && <Unanswered what="The schedules" height="20rem" failure={failure} onRetry={reload} />}
      {data !== null && (
        <>
          <FoundCount shown={pages.rowsBefore + data.items.length} of={data} answer={answer} />
          {data.items.length === 0 ? (
            <None isNarrowed={status !== "" || q !== ""} />
          ) : (
            <ScheduleTable schedules={data.items} nowMs={nowMs} />
          )}
          <Pager
            pages={pages}
            page={data}
            order="id"
            onMore={canGrow ? () => setLimit(Math.min(MOST, limit * 3)) : undefined}
            isTurning={answer.isTurning}
          />
        </>
      )}
    </>
  );
}

function None({ isNarrowed }: { isNarrowed: boolean }) {
  if (isNarrowed) return <Blank title="No schedule is like that" />;
  return (
    <Blank title="There are no schedules yet">
      <p>
        A schedule creates tasks by the calendar, or wants observers running in certain hours:{" "}
        <code>unacked apply -f schedule.yaml</code>, or <code>PUT /api/v1/schedules/ID</code>.
      </p>
    </Blank>
  );
}
