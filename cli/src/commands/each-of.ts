import { asRefusal, CliFailure } from "../failure.ts";
import { plainLine } from "../output/plain-text.ts";
import { failureText } from "../report.ts";
import type { Session } from "../session.ts";

/** One by one, in order: what is refused is told and costs the others nothing, and fails the command. @param act says what was done */
export async function eachOf({ io }: Session, ids: string[], act: (id: string) => Promise<string>): Promise<void> {
  const refused: CliFailure[] = [];
  for (const id of ids) {
    try {
      io.out(plainLine(await act(id)));
    } catch (error) {
      const refusal = asRefusal(error);
      if (ids.length > 1) io.err(failureText(refusal));
      refused.push(refusal);
    }
  }
  if (refused[0] === undefined) return;
  throw ids.length === 1 ? refused[0] : new CliFailure("failed", `${refused.length} of ${ids.length} were refused`);
}
