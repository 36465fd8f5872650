import type { Session } from "@unacked/broker";
import { REQUEST_QUEUE } from "@unacked/contracts";
import { lookAt } from "../pools/queue-look.ts";
import { Upkeep } from "../topology.ts";

/**
 * Looks again and again at how many requests nobody has received, for the metrics. It belongs to no consumer of them, so that it includes
 * requests for which no manager listens.
 */
export class RequestDepth {
  readonly #looks = new Upkeep((session) => this.#look(session));
  #ready: number | undefined;

  /** Begins with a new session and ends with it. */
  begin(session: Session): void {
    this.#looks.begin(session);
  }

  end(): void {
    this.#ready = undefined;
    this.#looks.end();
  }

  /** How many there were some seconds ago. Undefined if it is not known. */
  get ready(): number | undefined {
    return this.#ready;
  }

  async #look(session: Session): Promise<void> {
    this.#ready = (await lookAt(session, REQUEST_QUEUE))?.ready;
  }
}
