import { TextInput } from "@mantine/core";
import { StatusSelect } from "../../parts/status-select.tsx";
import type { TimerFilter } from "../../store/timer-filter.ts";
import { TIMER_LOOKS } from "../../store/timer-looks.ts";
import css from "./timers.module.css";

/** What to narrow the list to; it takes effect at once. */
export function TimerFilterBar({
  filter,
  onChange,
}: {
  filter: TimerFilter;
  onChange: (change: Partial<TimerFilter>) => void;
}) {
  return (
    <search className={css.filter}>
      <StatusSelect value={filter.status} looks={TIMER_LOOKS} onChange={(status) => onChange({ status })} />
      <TextInput
        label="Name begins with"
        placeholder="any"
        value={filter.prefix}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange({ prefix: event.currentTarget.value.trim() })}
      />
    </search>
  );
}
