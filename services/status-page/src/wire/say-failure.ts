import { CallError } from "./call.ts";

/** For people: what went wrong and what to do; of fields what is wrong with each, as not every one may stand in the dialog. */
export function sayFailure(error: unknown): string {
  if (!(error instanceof CallError)) return String(error).replace(/^Error: /, "");
  const flaws = error.fieldErrors.map(({ pointer = "", message }) => (pointer === "" ? message : `${pointer}: ${message}`));
  return flaws.length > 0 ? `It was not taken. ${flaws.join("; ")}` : `${error.message}. ${error.remedy}`;
}

type Flaw = CallError["fieldErrors"][number];

/** What of a refusal is left to be said where the fields of a dialog say the rest. */
export function restOf(error: unknown, isAtField: (flaw: Flaw) => boolean): unknown {
  if (!(error instanceof CallError) || error.fieldErrors.length === 0) return error;
  const { code, title, message, remedy } = error;
  const fieldErrors = error.fieldErrors.filter((flaw) => !isAtField(flaw));
  if (fieldErrors.length === 0) return new Error("It was not taken: see what is said at the fields.");
  return new CallError({ code, title, message, remedy, fieldErrors });
}
