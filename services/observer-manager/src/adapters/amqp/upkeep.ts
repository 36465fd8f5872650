import type { Session } from "@unacked/broker";
import type { WorkQueues } from "./work-queues.ts";

const EVERY_MS = 5_000;

/**
 * Declares again and again what somebody may delete or unbind meanwhile. Services with few rights cannot do it themselves,
 * and would wait for a queue, or be unreachable, until a manager connects anew. What is there stays as it is.
 */
export class Upkeep {
  readonly #declare: (session: Session) => Promise<void>;
  readonly #workQueues: WorkQueues;
  #timer: NodeJS.Timeout | undefined;

  constructor(declare: (session: Session) => Promise<void>, workQueues: WorkQueues) {
    this.#declare = declare;
    this.#workQueues = workQueues;
  }

  /** Begins with a new session and ends with it. */
  begin(session: Session): void {
    this.end();
    const keepUp = async () => {
      try {
        await this.#declare(session);
        await this.#workQueues.declareAgain();
      } catch {
        return; // the session is lost with it, and says why; its successor begins anew
      }
      if (!session.lost.aborted) this.#timer = setTimeout(() => void keepUp(), EVERY_MS);
    };
    this.#timer = setTimeout(() => void keepUp(), EVERY_MS);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
