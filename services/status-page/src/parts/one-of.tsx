import { Button } from "@mantine/core";
import css from "./one-of.module.css";

interface Props<Value extends string> {
  label: string;
  value: Value;
  options: Record<Value, string>;
  onChange: (value: Value) => void;
}

/** A choice of few, all of which are seen. */
export function OneOf<Value extends string>({ label, value, options, onChange }: Props<Value>) {
  const all = Object.entries(options) as [Value, string][];
  return (
    <div role="group" aria-label={label} className={css.group}>
      {all.map(([each, text]) => (
        <Button
          key={each}
          size="compact-xs"
          variant="default"
          className={css.one}
          aria-pressed={each === value}
          onClick={() => onChange(each)}
        >
          {text}
        </Button>
      ))}
    </div>
  );
}
