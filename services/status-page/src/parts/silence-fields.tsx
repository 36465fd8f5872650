import { TextInput } from "@mantine/core";
import type { Silence } from "@unacked/contracts";
import type { FieldErrors } from "../form/params-of.ts";
import css from "./form.module.css";

/** As typed, in seconds. */
export interface TypedSilence {
  warn: string;
  restart: string;
}

export const NO_SILENCE: TypedSilence = { warn: "", restart: "" };

const POINTERS = { warn: "/silence/warnAfterMs", restart: "/silence/restartAfterMs" } as const;
export const SILENCE_POINTERS = ["/silence", ...Object.values(POINTERS)];

/** What is asked for; nothing where both are empty: as its type says. */
export function silenceOf(typed: TypedSilence): { silence?: Silence; errors: FieldErrors } {
  const errors: Record<string, string> = {};
  const read = (name: keyof TypedSilence): number | undefined => {
    const text = typed[name].trim();
    if (text === "") return undefined;
    const ms = Math.round(Number(text) * 1_000);
    if (!(ms >= 1_000)) errors[POINTERS[name]] = "must be a number of seconds, 1 or more";
    return ms;
  };
  const [warnAfterMs, restartAfterMs] = [read("warn"), read("restart")];
  if (warnAfterMs === undefined && restartAfterMs === undefined) return { errors };
  const silence = {
    ...(warnAfterMs !== undefined && { warnAfterMs }),
    ...(restartAfterMs !== undefined && { restartAfterMs }),
  };
  return { silence, errors };
}

interface Props {
  value: TypedSilence;
  /** What its type says. */
  ofType: Silence | undefined;
  errors: FieldErrors;
  onChange: (value: TypedSilence) => void;
}

export function SilenceFields({ value, ofType, errors, onChange }: Props) {
  const field = (name: keyof TypedSilence, label: string, byType: number | undefined) => (
    <TextInput
      label={label}
      description={
        byType === undefined ? "Seconds without a beat" : `Seconds without a beat; its type says ${byType / 1_000}`
      }
      inputMode="decimal"
      autoComplete="off"
      value={value[name]}
      error={errors[POINTERS[name]] ?? (name === "restart" ? errors["/silence"] : undefined)}
      onChange={(event) => onChange({ ...value, [name]: event.currentTarget.value })}
    />
  );
  return (
    <div className={css.two}>
      {field("warn", "Warn when silent for", ofType?.warnAfterMs)}
      {field("restart", "Restart when silent for", ofType?.restartAfterMs)}
    </div>
  );
}
