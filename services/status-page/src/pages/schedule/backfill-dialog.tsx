import { Button, Modal, TextInput } from "@mantine/core";
import type { BackfillAnswer, ScheduleView } from "@unacked/contracts";
import { useState } from "react";
import { sayMany } from "../../parts/say.ts";
import { useFocusBack } from "../../parts/use-focus-back.ts";
import { useNotices } from "../../shell/notices.tsx";
import { call } from "../../wire/call.ts";
import { sayFailure } from "../../wire/say-failure.ts";
import css from "./schedule.module.css";

/** What `datetime-local` gives is by the viewer's clock. */
const isoOf = (local: string): string => (local === "" ? "" : new Date(local).toISOString());

/** Starts what a window had, after it has said what that would be. */
export function BackfillDialog({ schedule, onClose }: { schedule: ScheduleView; onClose: (hasChanged: boolean) => void }) {
  useFocusBack();
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const [answer, setAnswer] = useState<BackfillAnswer | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const { say } = useNotices();
  const ask = async (dryRun: boolean) => {
    setBusy(true);
    setRefusal(null);
    try {
      const body = { from: isoOf(from), to: isoOf(to), dryRun };
      const said = await call("backfillSchedule", { path: { scheduleId: schedule.id }, body });
      if (dryRun) setAnswer(said);
      else {
        say("done", `Backfill: ${sayAnswer(said)}.`);
        onClose(true);
      }
    } catch (error) {
      setRefusal(sayFailure(error));
    } finally {
      setBusy(false);
    }
  };
  const given = (value: string, set: (value: string) => void, label: string) => (
    <TextInput
      type="datetime-local"
      label={label}
      value={value}
      onChange={(event) => {
        set(event.currentTarget.value);
        setAnswer(null);
      }}
    />
  );
  const isGiven = from !== "" && to !== "";
  return (
    <Modal opened onClose={() => onClose(false)} title={`Backfill ${schedule.id}`} withCloseButton={false} size="md">
      <div className={css.form}>
        <p>Starts what was due in a window of the past, as the schedule is now.</p>
        {given(from, setFrom, "From, by your clock")}
        {given(to, setTo, "To, by your clock")}
        <div role="status">
          {answer !== null && (
            <p>
              By <code>{answer.cron ?? `every ${answer.everyMs} ms`}</code> ({answer.timeZone}): {sayAnswer(answer)}.
            </p>
          )}
        </div>
        {refusal !== null && (
          <p role="alert" className={css.problem}>
            {refusal}
          </p>
        )}
        <div className={css.buttons}>
          <Button variant="default" data-autofocus onClick={() => onClose(false)}>
            Back
          </Button>
          <Button variant="default" disabled={!isGiven} loading={isBusy && answer === null} onClick={() => void ask(true)}>
            What would it start?
          </Button>
          <Button disabled={answer === null} loading={isBusy && answer !== null} onClick={() => void ask(false)}>
            Start it
          </Button>
        </div>
      </div>
    </Modal>
  );
}

const sayAnswer = ({ times, started, queued, skipped, alreadyStarted }: BackfillAnswer): string =>
  `${sayMany(times, "time")}, ${started} started, ${queued} queued, ${skipped} left out, ${alreadyStarted} had started before`;
