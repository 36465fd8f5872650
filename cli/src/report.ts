import { CliFailure, EXIT_CODES } from "./failure.ts";
import type { Io } from "./io.ts";
import { plainLine, plainLines } from "./output/plain-text.ts";

/** A failure as text: what, why and what to do in one line, and below it each field that is wrong. */
export function failureText({ message, remedy, details }: CliFailure): string {
  const line = [message, remedy ?? ""].filter((part) => part !== "").map(asSentence);
  return plainLines([`error: ${line.join(" ")}`, ...details.map((detail) => `  ${detail}`)]);
}

/** One line, with a full stop unless it ends otherwise. */
const asSentence = (text: string): string => (/[.!?:)]$/.test(text) ? text : `${text}.`);

/** Reports whatever was thrown and returns the exit code. Never shows a stack, unless UNACKED_DEBUG asks for it. */
export function reportThrown(io: Io, thrown: unknown): number {
  if (thrown instanceof CliFailure) io.err(failureText(thrown));
  else io.err(plainLine(`error: ${String(thrown)} (a bug in this program; UNACKED_DEBUG=1 shows where)`));
  if ((io.env.UNACKED_DEBUG ?? "") !== "" && thrown instanceof Error) io.err(plainLines((thrown.stack ?? "").split("\n")));
  return thrown instanceof CliFailure ? EXIT_CODES[thrown.exitKind] : EXIT_CODES.failed;
}
