import { CliFailure } from "../failure.ts";
import type { Session } from "../session.ts";

/**
 * Calls what creates something. After a refusal there is none; after any other failure, and after Ctrl-C, it may have come to pass, and the failure
 * says what is to be done: whoever only repeats it may have two. Ctrl-C ends what comes after it as usual.
 */
export async function creating<Answer>(
  { io }: Pick<Session, "io">,
  remedy: string,
  create: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const { signal, release } = io.takeSignals();
  try {
    return await create(signal);
  } catch (error) {
    const failure = signal.aborted ? new CliFailure("interrupted", "Interrupted before the manager answered") : error;
    throw failure instanceof CliFailure && !failure.isRefusal ? failure.withRemedy(remedy) : failure;
  } finally {
    release();
  }
}

/** Of what is created under `id`. */
export const repeatWith = (id: string): string =>
  `Repeat it with --id ${id}. Then it exists only once, even if this call came through.`;
