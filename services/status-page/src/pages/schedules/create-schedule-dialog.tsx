import { Textarea, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { useAnswer } from "../../live/use-answer.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { Time } from "../../parts/time.tsx";
import { navigate } from "../../shell/navigation.tsx";
import { useNotices } from "../../shell/notices.tsx";
import { addressOfSchedule } from "../../shell/route.ts";
import { type ScheduleFlaws, type ScheduleForm, scheduleFlawsOf, scheduleOf } from "../../store/schedule-form.ts";
import { CallError, call } from "../../wire/call.ts";
import { restOf } from "../../wire/say-failure.ts";
import css from "./schedules.module.css";

const PREVIEWED = 5;
/** Nobody wants to hear what is wrong while they type. */
const STILL_MS = 300;
const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** A new schedule that creates a task. Its next times are shown before it is there. */
export function CreateScheduleDialog({ onClose }: { onClose: () => void }) {
  const [form, setForm] = useState<ScheduleForm>({
    id: "",
    cron: "0 9 * * 1-5",
    timeZone: OWN_ZONE,
    type: "",
    pool: "default",
    params: "{}",
  });
  const [flaws, setFlaws] = useState<ScheduleFlaws>({});
  const { say } = useNotices();
  const save = async () => {
    const read = scheduleOf(form);
    if ("flaws" in read) {
      setFlaws(read.flaws);
      throw new Error("Some of it cannot be.");
    }
    try {
      // A schedule of that name that is there is answered, and not replaced by what was typed here.
      await call("getSchedule", { path: { scheduleId: form.id } }).then(
        () => Promise.reject(new Error(`There is a schedule ${form.id}.`)),
        (error: unknown) => (isUnknown(error) ? undefined : Promise.reject(error)),
      );
      await call("putSchedule", { path: { scheduleId: form.id }, body: read.body });
    } catch (error) {
      if (error instanceof CallError) setFlaws(scheduleFlawsOf(error.fieldErrors));
      throw restOf(error, (flaw) => Object.keys(scheduleFlawsOf([flaw])).length > 0);
    }
    say("done", `The schedule ${form.id} is there.`);
    onClose();
    navigate(addressOfSchedule(form.id));
  };
  const text = (field: keyof ScheduleForm, label: string, description: string, placeholder = "") => (
    <TextInput
      data-autofocus={field === "id" || undefined}
      label={label}
      description={description}
      placeholder={placeholder}
      autoComplete="off"
      spellCheck={false}
      value={form[field]}
      error={flaws[field]}
      onChange={(event) => {
        setForm({ ...form, [field]: event.currentTarget.value.trimStart() });
        setFlaws({ ...flaws, [field]: undefined });
      }}
    />
  );
  return (
    <ConfirmDialog title="New schedule" verb="Create it" isDangerous={false} onConfirm={save} onClose={onClose}>
      <div className={css.form}>
        {text("id", "Id", "Yours to choose.", "reports.daily")}
        {text("cron", "Cron", "Minute, hour, day, month, weekday; with seconds before them if there are six.")}
        {text("timeZone", "Time zone", "By its clock.")}
        <Preview form={form} />
        {text("type", "Task type", "What each time creates.", "report")}
        {text("pool", "Pool", "Whose task workers it takes.", "default")}
        <Textarea
          label="Params"
          description="As JSON."
          autosize
          minRows={3}
          maxRows={12}
          spellCheck={false}
          classNames={{ input: css.typed ?? "" }}
          value={form.params}
          error={flaws.params}
          onChange={(event) => {
            setForm({ ...form, params: event.currentTarget.value });
            setFlaws({ ...flaws, params: undefined });
          }}
        />
      </div>
    </ConfirmDialog>
  );
}

const isUnknown = (error: unknown): boolean => error instanceof CallError && error.code === "schedule-not-found";

/** When it would start, a moment after the last key. Without how far off that is: a screen reader would read it out each second. */
function Preview({ form: { cron, timeZone } }: { form: ScheduleForm }) {
  const [still] = useDebouncedValue(`${cron}\n${timeZone}`, STILL_MS);
  const [stillCron = "", stillZone = ""] = still.split("\n");
  // Its times do not depend on what it creates.
  const body = { cron: stillCron, ...(stillZone !== "" && { timeZone: stillZone }), task: { type: "any" } };
  const input = stillCron === "" ? null : { body, query: { n: PREVIEWED } };
  const { data, failure } = useAnswer("previewSchedule", input as Parameters<typeof useAnswer<"previewSchedule">>[1]);
  const errors = scheduleFlawsOf(failure?.fieldErrors ?? []);
  return (
    <div className={css.preview} role="status">
      {data !== null && data.times.length === 0 && <p>It would never start.</p>}
      {data !== null && data.times.length > 0 && (
        <>
          <p>It would start, by your clock:</p>
          <ol>
            {data.times.map(({ at }) => (
              <li key={at}>
                <Time at={at} isBare />
              </li>
            ))}
          </ol>
        </>
      )}
      {failure !== null && <p className={css.flaw}>{errors.cron ?? errors.timeZone ?? failure.message}</p>}
    </div>
  );
}
