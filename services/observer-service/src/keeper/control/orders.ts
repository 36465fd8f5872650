import type { Log } from "../../log.ts";
import type { Drain } from "../intake/drain.ts";
import type { Shed } from "../intake/shed.ts";

export interface OrdersParts {
  readonly reload: (reloadId: string) => void;
  readonly drain: Pick<Drain, "begun" | "run" | "cordon" | "goOn">;
  readonly shed: Pick<Shed, "give" | "stepAside">;
  /** Says how things stand, which is the answer to an order. */
  readonly tell: () => void;
  readonly stopTimeoutMs: number;
  /** Nothing is said after the farewell. */
  readonly isEnding: () => boolean;
  readonly fail: (error: unknown) => Promise<void>;
  readonly log: Log;
}

/**
 * The manager's orders to this service, each repeated until it has heard that it is followed. What a lost session breaks off is asked for again, or does
 * not matter any more.
 */
export class Orders {
  /** Load the folder again, once for an id. */
  readonly reload: (reloadId: string) => void;
  readonly #parts: OrdersParts;

  constructor(parts: OrdersParts) {
    this.#parts = parts;
    this.reload = parts.reload;
  }

  /** Take nothing more, and give back what runs; to be repeated without harm. */
  drain(): void {
    const { drain, tell, isEnding, stopTimeoutMs, fail } = this.#parts;
    if (isEnding()) return;
    if (drain.begun) return tell();
    drain.run("the manager asked for it", stopTimeoutMs).then(() => this.#answer(), fail);
  }

  /** Take nothing more; to be repeated without harm. */
  cordon(): void {
    this.#follow("cordon", () => this.#parts.drain.cordon());
  }

  /** Take work again. */
  uncordon(): void {
    this.#follow("uncordon", () => this.#parts.drain.goOn());
  }

  /** Others are to have these. */
  give(runs: Parameters<Shed["give"]>[0]): void {
    this.#follow("shed", () => this.#parts.shed.give(runs));
  }

  /** Take nothing for a moment: others are to have what comes. */
  stepAside(): void {
    this.#follow("step-aside", () => this.#parts.shed.stepAside());
  }

  #follow(order: string, act: () => Promise<void>): void {
    const { isEnding, log } = this.#parts;
    if (isEnding()) return;
    act().then(
      () => this.#answer(),
      (error: unknown) =>
        log.debug({ event: "order-broken-off", order, error: String(error) }, "the session is lost, and says why"),
    );
  }

  #answer(): void {
    if (!this.#parts.isEnding()) this.#parts.tell();
  }
}
