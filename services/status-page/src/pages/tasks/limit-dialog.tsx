import { Checkbox, TextInput } from "@mantine/core";
import type { TaskTypeView } from "@unacked/contracts";
import { useState } from "react";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { useNotices } from "../../shell/notices.tsx";
import { changeOf, flawsOf, formOf, type LimitForm } from "../../store/task-limits.ts";
import { call } from "../../wire/call.ts";
import css from "./tasks.module.css";

/** The limits of one type, to be changed. They hold from the manager's answer on. */
export function LimitDialog({ of, onClose }: { of: TaskTypeView; onClose: (hasChanged: boolean) => void }) {
  const [form, setForm] = useState(() => formOf(of));
  const { say } = useNotices();
  const flaws = flawsOf(form);
  const save = async () => {
    if (Object.keys(flaws).length > 0) throw new Error("Some of it cannot be.");
    const change = changeOf(of, form);
    if (change !== null) {
      await call("changeTaskType", { path: { taskType: of.type }, body: change });
      say("done", `${of.type} has its new limits.`);
    }
    onClose(change !== null);
  };
  const field = (name: Exclude<keyof LimitForm, "paused">, none: string, label: string, description: string) => (
    <TextInput
      label={label}
      description={description}
      placeholder={none}
      inputMode="numeric"
      autoComplete="off"
      value={form[name]}
      error={flaws[name]}
      onChange={(event) => setForm({ ...form, [name]: event.currentTarget.value.trim() })}
    />
  );
  return (
    <ConfirmDialog
      title={`Limits of ${of.type}`}
      verb="Save"
      isDangerous={false}
      onConfirm={save}
      onClose={() => onClose(false)}
    >
      <div className={css.limits}>
        <Checkbox
          data-autofocus
          label="Paused"
          description="No new ones start; those that run go on."
          checked={form.paused}
          onChange={(event) => setForm({ ...form, paused: event.currentTarget.checked })}
        />
        {field("maxRunning", "no limit", "At most at once", "Sent or running, in all pools together.")}
        {field("minRunning", "none", "Workers kept for it", "In each pool that has it, used or not.")}
        {field("ratePerSecond", "no limit", "Starts a second", "Sent to workers in any second; none are made up for later.")}
      </div>
    </ConfirmDialog>
  );
}
