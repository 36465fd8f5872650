import { newUuid, type ScheduleView } from "@unacked/contracts";
import { useRef, useState } from "react";
import { ActionButton } from "../../parts/action-button.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { PageActions } from "../../parts/page-head.tsx";
import { useAction } from "../../parts/use-action.ts";
import { navigate } from "../../shell/navigation.tsx";
import { useNotices } from "../../shell/notices.tsx";
import { call } from "../../wire/call.ts";
import { BackfillDialog } from "./backfill-dialog.tsx";

/** Who asks again so soon after an answer was lost means the same run, which may have started; later, another one. */
const SAME_RUN_MS = 60_000;
const NOTHING_LOST = { id: "", at: { sinceLoadMs: Number.NEGATIVE_INFINITY, wallMs: 0 } };

/** One of them stands still while the computer sleeps, the other may be set. */
const bothClocks = () => ({ sinceLoadMs: performance.now(), wallMs: Date.now() });

function isJustNow(at: ReturnType<typeof bothClocks>): boolean {
  const now = bothClocks();
  return now.sinceLoadMs - at.sinceLoadMs < SAME_RUN_MS && Math.abs(now.wallMs - at.wallMs) < SAME_RUN_MS;
}

export function ScheduleActions({ schedule, onDone }: { schedule: ScheduleView; onDone: () => void }) {
  const [asked, setAsked] = useState<"delete" | "backfill" | null>(null);
  const lost = useRef(NOTHING_LOST);
  const { say } = useNotices();
  const path = { scheduleId: schedule.id };
  const close = () => setAsked(null);
  const { isBusy, run: act } = useAction(onDone);
  const now = (action: () => Promise<string>) => () => act(action);
  const run = now(async () => {
    const id = isJustNow(lost.current.at) ? lost.current.id : newUuid();
    try {
      const { status } = await call("runSchedule", { path, body: { id } });
      lost.current = NOTHING_LOST;
      return status === "started" ? "It has started." : `It is ${status}.`;
    } catch (error) {
      lost.current = { id, at: bothClocks() };
      throw error;
    }
  });
  const pause = now(async () => {
    await call("pauseSchedule", { path });
    return "The schedule is paused.";
  });
  const resume = now(async () => {
    await call("resumeSchedule", { path });
    return "The schedule goes on.";
  });
  const remove = async () => {
    await call("deleteSchedule", { path });
    say("done", `The schedule ${schedule.id} is deleted.`);
    navigate("/schedules");
  };
  return (
    <PageActions>
      {schedule.task !== null && (
        <>
          <ActionButton call="runSchedule" size="compact-md" variant="default" isBusy={isBusy} onClick={run}>
            Run now
          </ActionButton>
          <ActionButton call="backfillSchedule" size="compact-md" variant="default" onClick={() => setAsked("backfill")}>
            Backfill
          </ActionButton>
        </>
      )}
      {schedule.status === "Paused" ? (
        <ActionButton call="resumeSchedule" size="compact-md" variant="default" isBusy={isBusy} onClick={resume}>
          Resume
        </ActionButton>
      ) : (
        schedule.status === "Active" && (
          <ActionButton call="pauseSchedule" size="compact-md" variant="default" isBusy={isBusy} onClick={pause}>
            Pause
          </ActionButton>
        )
      )}
      <ActionButton call="deleteSchedule" size="compact-md" variant="default" onClick={() => setAsked("delete")}>
        Delete
      </ActionButton>
      {asked === "backfill" && (
        <BackfillDialog
          schedule={schedule}
          onClose={(hasChanged) => {
            close();
            if (hasChanged) onDone();
          }}
        />
      )}
      {asked === "delete" && (
        <ConfirmDialog title={`Delete ${schedule.id}?`} verb="Delete it" isDangerous onConfirm={remove} onClose={close}>
          <p>It never starts anything again, and what became of it is forgotten. Tasks that it has created go on.</p>
        </ConfirmDialog>
      )}
    </PageActions>
  );
}
