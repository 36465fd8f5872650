import { TextInput } from "@mantine/core";
import type { ScheduleStatusName } from "@unacked/contracts";
import { useState } from "react";
import { useList } from "../../live/use-list.ts";
import { ActionButton } from "../../parts/action-button.tsx";
import { Blank } from "../../parts/blank.tsx";
import { Listed } from "../../parts/listed.tsx";
import { StatusSelect } from "../../parts/status-select.tsx";
import { navigate, useSearch } from "../../shell/navigation.tsx";
import { SCHEDULE_LOOKS, SCHEDULE_SHOWN } from "../../store/schedule-looks.ts";
import { CreateScheduleDialog } from "./create-schedule-dialog.tsx";
import { ScheduleTable } from "./schedule-table.tsx";
import css from "./schedules.module.css";

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
  const [isNew, setNew] = useState(false);
  const query = { ...(status !== "" && { status: [status] }), ...(q !== "" && { q }) };
  const list = useList("listSchedules", query, search);
  const narrow = (change: Partial<Filter>) => {
    list.restart();
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
        <StatusSelect value={status} looks={SCHEDULE_LOOKS} onChange={(one) => narrow({ status: one })} />
        <TextInput
          label="Id has"
          placeholder="any"
          value={q}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => narrow({ q: event.currentTarget.value.trim() })}
        />
      </search>
      <Listed what="The schedules" list={list} order="id" none={<None isNarrowed={status !== "" || q !== ""} />}>
        {(schedules) => <ScheduleTable schedules={schedules} nowMs={list.nowMs} />}
      </Listed>
    </>
  );
}

function None({ isNarrowed }: { isNarrowed: boolean }) {
  if (isNarrowed) return <Blank title="No schedule matches" />;
  return (
    <Blank title="There are no schedules yet">
      <p>
        A schedule creates tasks by the calendar, or wants observers running in certain hours:{" "}
        <code>unacked apply -f schedule.yaml</code>, or <code>PUT /api/v1/schedules/ID</code>.
      </p>
    </Blank>
  );
}
