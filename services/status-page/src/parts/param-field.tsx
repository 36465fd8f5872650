import { Checkbox, NativeSelect, Textarea, TextInput } from "@mantine/core";
import type { FormField } from "../form/schema-fields.ts";

interface Props {
  field: FormField;
  isFirst: boolean;
  value: string | boolean;
  error: string | undefined;
  onChange: (value: string | boolean) => void;
}

const EXTRA_HELP: Partial<Record<FormField["kind"], string>> = { lines: "One a line.", json: "As JSON." };

export function ParamField({ field, isFirst, value, error, onChange }: Props) {
  const { kind, required } = field;
  const shared = {
    "data-autofocus": isFirst || undefined,
    label: field.key === "" ? "JSON" : field.key,
    description: [field.help, EXTRA_HELP[kind]].filter(Boolean).join(" ") || undefined,
    error,
  };
  const asText = {
    ...shared,
    ...(required && { withAsterisk: true, "aria-required": true }),
    value: String(value),
    autoComplete: "off",
    spellCheck: false,
  };
  switch (kind) {
    case "flag":
      return <Checkbox {...shared} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />;
    case "choice":
      return (
        <NativeSelect
          {...shared}
          withAsterisk={required}
          value={String(value)}
          data={["", ...field.options]}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
    case "lines":
    case "json":
      return (
        <Textarea {...asText} rows={kind === "json" ? 4 : 3} onChange={(event) => onChange(event.currentTarget.value)} />
      );
    case "number":
      return <TextInput {...asText} inputMode="decimal" onChange={(event) => onChange(event.currentTarget.value)} />;
    case "text":
      return <TextInput {...asText} onChange={(event) => onChange(event.currentTarget.value)} />;
    default:
      return kind satisfies never;
  }
}
