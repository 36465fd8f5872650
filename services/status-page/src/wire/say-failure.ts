import { CallError } from "./call.ts";

/** For people: what went wrong and what to do; of fields what is wrong with each, as not every one may stand in the dialog. */
export function sayFailure(error: unknown): string {
  if (!(error instanceof CallError)) return String(error).replace(/^Error: /, "");
  const flaws = error.fieldErrors.map(({ pointer = "", message }) => (pointer === "" ? message : `${pointer}: ${message}`));
  return flaws.length > 0 ? `It was not taken. ${flaws.join("; ")}` : `${error.message}. ${error.remedy}`;
}
