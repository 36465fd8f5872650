import { NativeSelect, TextInput } from "@mantine/core";
import type { TaskFilter } from "../../store/task-filter.ts";
import { TASK_LOOKS, TASK_SHOWN } from "../../store/task-looks.ts";
import css from "./tasks.module.css";

/** What to narrow the list to; it takes effect at once. */
export function TaskFilterBar({
  filter,
  onChange,
}: {
  filter: TaskFilter;
  onChange: (change: Partial<TaskFilter>) => void;
}) {
  const text = (name: "type" | "pool" | "id", label: string, placeholder: string) => (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={filter[name]}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => onChange({ [name]: event.currentTarget.value.trim() })}
    />
  );
  return (
    <search className={css.filter}>
      <NativeSelect
        label="Status"
        value={filter.status}
        onChange={(event) => onChange({ status: event.currentTarget.value as TaskFilter["status"] })}
        data={[
          { value: "", label: "any" },
          ...TASK_SHOWN.map((value) => ({ value, label: `${value}: ${TASK_LOOKS[value].meaning}` })),
        ]}
      />
      {text("type", "Type", "any")}
      {text("pool", "Pool", "any")}
      {text("id", "Id begins with", "any")}
    </search>
  );
}
