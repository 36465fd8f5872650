import { Textarea, TextInput } from "@mantine/core";
import type { FieldErrors, FieldValues } from "../form/params-of.ts";
import type { FormField } from "../form/schema-fields.ts";
import type { SpecTexts } from "../form/spec-texts.ts";
import css from "./form.module.css";
import { ParamField } from "./param-field.tsx";

interface ParamsProps {
  fields: readonly FormField[];
  values: FieldValues;
  errors: FieldErrors;
  onChange: (values: FieldValues) => void;
}

export function ParamsFields({ fields, values, errors, onChange }: ParamsProps) {
  return (
    <fieldset className={css.params}>
      <legend>Params</legend>
      {fields.length === 0 && <p className={css.none}>This type takes none.</p>}
      {fields.map((field, place) => (
        <ParamField
          key={field.key}
          field={field}
          isFirst={place === 0}
          value={values[field.key] ?? field.initial}
          error={errors[field.pointer]}
          onChange={(value) => onChange({ ...values, [field.key]: value })}
        />
      ))}
    </fieldset>
  );
}

interface SpecProps {
  texts: SpecTexts;
  errors: FieldErrors;
  onChange: (change: Partial<SpecTexts>) => void;
}

export function PoolAndLabels({ texts, errors, onChange, aboutLabels = "" }: SpecProps & { aboutLabels?: string }) {
  return (
    <div className={css.two}>
      <TextInput
        data-autofocus
        label="Pool"
        description="Whose workers it takes"
        value={texts.pool}
        error={errors["/pool"]}
        onChange={(event) => onChange({ pool: event.currentTarget.value })}
      />
      <TextInput
        label="Labels"
        description={`key=value, key=value${aboutLabels}`}
        value={texts.labels}
        error={errors["/labels"]}
        onChange={(event) => onChange({ labels: event.currentTarget.value })}
      />
    </div>
  );
}

export function RetryField({ texts, errors, onChange }: SpecProps) {
  return (
    <Textarea
      label="On an error"
      description="The retry policy, as JSON. Empty: it retries without end, 1 s to 5 min apart"
      placeholder='{ "maxAttempts": 5, "delaysMs": [1000, 5000] }'
      rows={3}
      spellCheck={false}
      value={texts.retry}
      error={errors["/retry"]}
      onChange={(event) => onChange({ retry: event.currentTarget.value })}
    />
  );
}
