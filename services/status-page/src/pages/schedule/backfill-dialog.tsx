import { Button, Modal, TextInput } from "@mantine/core";
import type { BackfillAnswer, ScheduleView } from "@unacked/contracts";
import { type FormEvent, useState } from "react";
import { BusyButton } from "../../parts/busy-button.tsx";
import { sayMany } from "../../parts/say.ts";
import { useFocusBack } from "../../parts/use-focus-back.ts";
import { useNotices } from "../../shell/notices.tsx";
import { call } from "../../wire/call.ts";
import { sayFailure } from "../../wire/say-failure.ts";
import css from "./schedule.module.css";

/** What `datetime-local` gives is by the viewer's clock. */
const isoOf = (local: string): string => (local === "" ? "" : new Date(local).toISOString());

/** Starts what a window had, after it has said what that would be. Enter asks only that: it starts by its own button, once it is read. */
export function BackfillDialog({ schedule, onClose }: { schedule: ScheduleView; onClose: (hasChanged: boolean) => void }) {
  useFocusBack();
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  /** What it would start, and in which window: that may be another one by now. */
  const [seen, setSeen] = useState<{ from: string; to: string; answer: BackfillAnswer } | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);
  const [busy, setBusy] = useState<"asking" | "starting" | null>(null);
  const { say } = useNotices();
  const ask = async (dryRun: boolean) => {
    setBusy(dryRun ? "asking" : "starting");
    setRefusal(null);
    try {
      const body = { from: isoOf(from), to: isoOf(to), dryRun };
      const said = await call("backfillSchedule", { path: { scheduleId: schedule.id }, body });
      if (dryRun) setSeen({ from, to, answer: said });
      else {
        say("done", `Backfill: ${sayAnswer(said)}.`);
        onClose(true);
      }
    } catch (error) {
      setRefusal(sayFailure(error));
    } finally {
      setBusy(null);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void ask(true);
  };
  const isGiven = from !== "" && to !== "";
  const answer = seen?.from === from && seen.to === to ? seen.answer : null;
  // Not while a call is under way: nobody would be told what became of it.
  const leave = () => busy === null && onClose(false);
  return (
    <Modal opened onClose={leave} title={`Backfill ${schedule.id}`} withCloseButton={false} size="md">
      <form noValidate className={css.form} onSubmit={submit}>
        <p>Starts what was due in a past window, by the schedule as it is now.</p>
        <TextInput
          data-autofocus
          type="datetime-local"
          label="From, by your clock"
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          label="To, by your clock"
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
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
          <Button variant="default" disabled={busy !== null} onClick={leave}>
            Back
          </Button>
          <BusyButton type="submit" variant="default" disabled={!isGiven || busy === "starting"} isBusy={busy === "asking"}>
            What would it start?
          </BusyButton>
          <BusyButton
            disabled={answer === null || busy === "asking"}
            isBusy={busy === "starting"}
            onClick={() => void ask(false)}
          >
            Start it
          </BusyButton>
        </div>
      </form>
    </Modal>
  );
}

const sayAnswer = ({ times, started, queued, skipped, alreadyStarted }: BackfillAnswer): string =>
  `${sayMany(times, "time")}, ${started} started, ${queued} queued, ${skipped} left out, ${alreadyStarted} had started before`;
