import { NativeSelect, TextInput } from "@mantine/core";
import type { TimerFilter } from "../../store/timer-filter.ts";
import { TIMER_LOOKS, TIMER_SHOWN } from "../../store/timer-looks.ts";
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
      <NativeSelect
        label="Status"
        value={filter.status}
        onChange={(event) => onChange({ status: event.currentTarget.value as TimerFilter["status"] })}
        data={[
          { value: "", label: "any" },
          ...TIMER_SHOWN.map((value) => ({ value, label: `${value}: ${TIMER_LOOKS[value].meaning}` })),
        ]}
      />
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
