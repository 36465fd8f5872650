import { TextInput } from "@mantine/core";
import type { Silence } from "@unacked/contracts";
import { useState } from "react";
import type { FieldErrors } from "../../form/params-of.ts";
import type { SpecTexts } from "../../form/spec-texts.ts";
import css from "../../parts/form.module.css";
import { RetryField } from "../../parts/observer-fields.tsx";
import { SILENCE_POINTERS, SilenceFields, type TypedSilence } from "../../parts/silence-fields.tsx";

interface Props {
  texts: SpecTexts;
  onTexts: (change: Partial<SpecTexts>) => void;
  silence: TypedSilence;
  /** What its type says of silence. */
  ofType: Silence | undefined;
  onSilence: (silence: TypedSilence) => void;
  /** Of an input of the kind datetime-local; "": at once. */
  startAt: string;
  onStartAt: (at: string) => void;
  errors: FieldErrors;
}

export const ADVANCED_POINTERS = ["/startAt", ...SILENCE_POINTERS];

/** What most leave as it is; folded away until somebody opens it, or something in it is wrong. */
export function AdvancedFields({ texts, onTexts, silence, ofType, onSilence, startAt, onStartAt, errors }: Props) {
  const [isOpen, setOpen] = useState(false);
  const isWrong = ["/retry", ...ADVANCED_POINTERS].some((pointer) => errors[pointer] !== undefined);
  return (
    <details
      className={css.fold}
      open={isOpen || isWrong}
      onToggle={(event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}
    >
      <summary>Advanced: errors, silence, start</summary>
      <div className={css.form}>
        <RetryField texts={texts} errors={errors} onChange={onTexts} />
        <SilenceFields value={silence} ofType={ofType} errors={errors} onChange={onSilence} />
        <TextInput
          type="datetime-local"
          step={1}
          label="Starts at"
          description={`In your zone, ${Intl.DateTimeFormat().resolvedOptions().timeZone}. Empty: at once`}
          value={startAt}
          error={errors["/startAt"]}
          onChange={(event) => onStartAt(event.currentTarget.value)}
        />
      </div>
    </details>
  );
}
