import { CliFailure } from "../failure.ts";
import type { Session } from "../session.ts";

/**
 * Makes a call that creates something. After a refusal nothing exists. After any other failure, and after Ctrl-C, it may exist: the failure
 * says how to repeat it without having two. Later on, Ctrl-C ends the program as usual.
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

/** The remedy for what is created under `id`. */
export const repeatWith = (id: string): string =>
  `Repeat it with --id ${id}. Then it exists only once, even if this call came through.`;
