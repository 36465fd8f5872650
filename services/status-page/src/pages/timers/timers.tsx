import type { TimerView } from "@unacked/contracts";
import { useState } from "react";
import { useList } from "../../live/use-list.ts";
import { ActionButton } from "../../parts/action-button.tsx";
import { Blank } from "../../parts/blank.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { Listed } from "../../parts/listed.tsx";
import { Time } from "../../parts/time.tsx";
import { navigate, useSearch } from "../../shell/navigation.tsx";
import { useNotices } from "../../shell/notices.tsx";
import { addressOfTimers, isNarrowed, queryOf, type TimerFilter, timerFilterOf } from "../../store/timer-filter.ts";
import { call } from "../../wire/call.ts";
import { CreateTimerDialog } from "./create-timer-dialog.tsx";
import { TimerFilterBar } from "./timer-filter-bar.tsx";
import { TimerTable } from "./timer-table.tsx";
import css from "./timers.module.css";

/** Messages that go out at a time: what waits, and what became of the others. The newest first. */
export default function Timers() {
  const search = useSearch();
  const filter = timerFilterOf(search);
  const [isCreating, setCreating] = useState(false);
  const [asked, setAsked] = useState<TimerView | null>(null);
  const list = useList("listTimers", queryOf(filter), search, { mayGrow: false });
  const { reload } = list.answer;
  const narrow = (change: Partial<TimerFilter>) => {
    navigate(addressOfTimers({ ...filter, ...change }), { replace: true });
  };
  return (
    <>
      <div className={css.head}>
        <h1>Timers</h1>
        <ActionButton call="putTimer" size="compact-md" onClick={() => setCreating(true)}>
          New timer
        </ActionButton>
      </div>
      <TimerFilterBar filter={filter} onChange={narrow} />
      <Listed what="The timers" list={list} none={<None filter={filter} />}>
        {(timers) => <TimerTable timers={timers} nowMs={list.nowMs} onCancel={setAsked} />}
      </Listed>
      {isCreating && (
        <CreateTimerDialog
          onClose={(isSet) => {
            setCreating(false);
            if (isSet) reload();
          }}
        />
      )}
      {asked !== null && (
        <CancelDialog
          timer={asked}
          onClose={() => {
            setAsked(null);
            reload();
          }}
        />
      )}
    </>
  );
}

function CancelDialog({ timer: { id, name, at }, onClose }: { timer: TimerView; onClose: () => void }) {
  const { say } = useNotices();
  const cancel = async () => {
    await call("cancelTimer", { path: { timerId: id } });
    say("done", `The timer ${name} is cancelled.`);
    onClose();
  };
  return (
    <ConfirmDialog title={`Cancel ${name}?`} verb="Cancel the timer" isDangerous onConfirm={cancel} onClose={onClose}>
      <p>
        Its time is <Time at={at} mayCome />. A cancelled timer never fires. You cannot undo this, nor use its id again.
      </p>
    </ConfirmDialog>
  );
}

function None({ filter }: { filter: TimerFilter }) {
  if (isNarrowed(filter))
    return (
      <Blank title="No timer matches">
        <p>Timers that are over are forgotten after some days.</p>
      </Blank>
    );
  return (
    <Blank title="There are no timers yet">
      <p>
        A timer is a message that goes out at its time: <code>unacked timer NAME --in 2h</code>, or{" "}
        <code>PUT /api/v1/timers/ID</code>.
      </p>
    </Blank>
  );
}
