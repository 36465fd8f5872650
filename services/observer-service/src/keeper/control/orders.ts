import type { Log } from "../../log.ts";
import type { Drain } from "../intake/drain.ts";
import type { Shed } from "../intake/shed.ts";
import { LastHeard } from "./last-heard.ts";

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
  readonly #intake = new LastHeard();

  constructor(parts: OrdersParts) {
    this.#parts = parts;
    this.reload = parts.reload;
  }

  /** Take nothing more, and give back what runs; to be repeated without harm. */
  drain(sentAtMs?: number): void {
    const { drain, tell, isEnding, stopTimeoutMs, fail } = this.#parts;
    if (isEnding() || this.#isOlder("drain", sentAtMs)) return;
    if (drain.begun) return tell();
    drain.run("the manager asked for it", stopTimeoutMs).then(() => this.#answer(), fail);
  }

  /** Take nothing more; to be repeated without harm. */
  cordon(sentAtMs?: number): void {
    if (!this.#isOlder("cordon", sentAtMs)) this.#follow("cordon", () => this.#parts.drain.cordon());
  }

  /** Take work again. */
  uncordon(sentAtMs?: number): void {
    if (!this.#isOlder("uncordon", sentAtMs)) this.#follow("uncordon", () => this.#parts.drain.goOn());
  }

  /** Others are to have these. */
  give(runs: Parameters<Shed["give"]>[0]): void {
    this.#follow("shed", () => this.#parts.shed.give(runs));
  }

  /** Take nothing for a moment: others are to have what comes. */
  stepAside(): void {
    this.#follow("step-aside", () => this.#parts.shed.stepAside());
  }

  #isOlder(order: string, sentAtMs: number | undefined): boolean {
    if (!this.#intake.isBefore(sentAtMs)) return false;
    this.#parts.log.info({ event: "order-too-old", order }, "an order came after one that was given later: not followed");
    return true;
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
