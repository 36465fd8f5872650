import type { CallInput, FieldProblem } from "@unacked/contracts";

/** As somebody has typed it. */
export interface TimerForm {
  name: string;
  /** Of an input of the kind datetime-local: without a zone. */
  at: string;
  payload: string;
}

export type TimerFlaws = Partial<Record<keyof TimerForm, string>>;

/** Whole seconds, in the zone of whoever looks. */
export function inAnHour(nowMs: number): string {
  const at = new Date(nowMs + 3_600_000);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

export function timerOf(form: TimerForm): { timer: CallInput<"putTimer">["body"] } | { flaws: TimerFlaws } {
  const at = new Date(form.at); // without a zone it is read in the browser's own
  const payload = jsonOf(form.payload);
  const flaws: TimerFlaws = {
    ...(form.name.trim() === "" && { name: "is needed" }),
    ...(Number.isNaN(at.getTime()) && { at: "is no time" }),
    ...("flaw" in payload && { payload: payload.flaw }),
  };
  if (Object.keys(flaws).length > 0 || "flaw" in payload) return { flaws };
  return { timer: { name: form.name.trim(), at: at.toISOString(), payload: payload.value } };
}

/** What the manager found, at its field. */
export function flawsOf(found: readonly FieldProblem[]): TimerFlaws {
  const flaws: TimerFlaws = {};
  for (const { pointer, message } of found) {
    const field = pointer?.split("/")[1];
    if (field === "name" || field === "at" || field === "payload") flaws[field] ??= message;
  }
  return flaws;
}

function jsonOf(text: string): { value: unknown } | { flaw: string } {
  if (text.trim() === "") return { value: null };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { flaw: `is no JSON: ${error instanceof Error ? error.message : "nobody can read it"}` };
  }
}
