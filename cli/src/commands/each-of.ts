import { asRefusal, CliFailure } from "../failure.ts";
import { plainLine } from "../output/plain-text.ts";
import { failureText } from "../report.ts";
import type { Session } from "../session.ts";

/**
 * One by one, in order: what is refused is told and costs the others nothing, and fails the command.
 * @param act tells what it has found
 * @param how what is said in the end of those that failed
 */
export async function eachAsked<One>(
  { io }: Session,
  all: readonly One[],
  act: (one: One) => Promise<void>,
  how = "were refused",
): Promise<void> {
  const refused: CliFailure[] = [];
  for (const one of all) {
    try {
      await act(one);
    } catch (error) {
      const refusal = asRefusal(error);
      if (all.length > 1) io.err(failureText(refusal));
      refused.push(refusal);
    }
  }
  if (refused[0] === undefined) return;
  throw all.length === 1 ? refused[0] : new CliFailure("failed", `${refused.length} of ${all.length} ${how}`);
}

/** The same, each told in a line. @param act says what was done */
export const eachOf = (session: Session, ids: readonly string[], act: (id: string) => Promise<string>): Promise<void> =>
  eachAsked(session, ids, async (id) => session.io.out(plainLine(await act(id))));
