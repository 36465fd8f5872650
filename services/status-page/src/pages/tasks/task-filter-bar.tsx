import { TextInput } from "@mantine/core";
import { StatusSelect } from "../../parts/status-select.tsx";
import type { TaskFilter } from "../../store/task-filter.ts";
import { TASK_LOOKS } from "../../store/task-looks.ts";
import css from "./tasks.module.css";

/** What to narrow the list to; it takes effect at once. */
export function TaskFilterBar({
  filter,
  onChange,
}: {
  filter: TaskFilter;
  onChange: (change: Partial<TaskFilter>) => void;
}) {
  const text = (name: "type" | "pool" | "service" | "id", label: string, placeholder: string) => (
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
      <StatusSelect value={filter.status} looks={TASK_LOOKS} onChange={(status) => onChange({ status })} />
      {text("type", "Type", "any")}
      {text("pool", "Pool", "any")}
      {text("service", "Runs on service", "any")}
      {text("id", "Id begins with", "any")}
    </search>
  );
}
