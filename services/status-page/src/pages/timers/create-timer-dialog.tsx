import { Textarea, TextInput } from "@mantine/core";
import { newUuid } from "@unacked/contracts";
import { useState } from "react";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { useNotices } from "../../shell/notices.tsx";
import { flawsOf, inAnHour, type TimerForm, timerOf } from "../../store/timer-form.ts";
import { CallError, call } from "../../wire/call.ts";
import { restOf } from "../../wire/say-failure.ts";
import css from "./timers.module.css";

/** A new timer. Its id is made once, so that a second press after a lost answer sets no second one. */
export function CreateTimerDialog({ onClose }: { onClose: (isSet: boolean) => void }) {
  const [id] = useState(newUuid);
  const [form, setForm] = useState<TimerForm>(() => ({ name: "", at: inAnHour(Date.now()), payload: "null" }));
  const [flaws, setFlaws] = useState<Partial<Record<keyof TimerForm, string>>>({});
  const { say } = useNotices();
  const save = async () => {
    const read = timerOf(form);
    if ("flaws" in read) {
      setFlaws(read.flaws);
      throw new Error("Some of it cannot be.");
    }
    try {
      const timer = await call("putTimer", { path: { timerId: id }, body: read.timer });
      say("done", `The timer ${timer.name} is set.`);
    } catch (error) {
      if (error instanceof CallError) setFlaws(flawsOf(error.fieldErrors));
      throw restOf(error, (flaw) => Object.keys(flawsOf([flaw])).length > 0);
    }
    onClose(true);
  };
  const change = (field: keyof TimerForm) => (event: { currentTarget: { value: string } }) => {
    setForm({ ...form, [field]: event.currentTarget.value });
    setFlaws({ ...flaws, [field]: undefined });
  };
  return (
    <ConfirmDialog title="New timer" verb="Set it" isDangerous={false} onConfirm={save} onClose={() => onClose(false)}>
      <div className={css.form}>
        <TextInput
          data-autofocus
          label="Name"
          description="The routing key of its message on the exchange unacked.timers."
          placeholder="cart.abandoned"
          autoComplete="off"
          spellCheck={false}
          value={form.name}
          error={flaws.name}
          onChange={change("name")}
        />
        <TextInput
          type="datetime-local"
          step={1}
          label="Its time"
          description={`In your zone, ${Intl.DateTimeFormat().resolvedOptions().timeZone}. What has passed fires at once.`}
          value={form.at}
          error={flaws.at}
          onChange={change("at")}
        />
        <Textarea
          label="Payload"
          description="As JSON: the body of its message."
          autosize
          minRows={3}
          maxRows={12}
          spellCheck={false}
          classNames={{ input: css.typed ?? "" }}
          value={form.payload}
          error={flaws.payload}
          onChange={change("payload")}
        />
      </div>
    </ConfirmDialog>
  );
}
