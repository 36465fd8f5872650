import type { Log } from "../../log.ts";
import type { Drain } from "../intake/drain.ts";
import type { Shed } from "../intake/shed.ts";
import { LastHeard } from "./last-heard.ts";

export interface OrdersParts {
  readonly reload: (reloadId: string) => void;
  readonly drain: Pick<Drain, "begun" | "run" | "cordon" | "goOn">;
  readonly shed: Pick<Shed, "give" | "stepAside">;
  /** Reports the state of the service, which answers an order. */
  readonly tell: () => void;
  readonly stopTimeoutMs: number;
  /** After the farewell nothing is reported. */
  readonly isEnding: () => boolean;
  readonly fail: (error: unknown) => Promise<void>;
  readonly log: Log;
}

/**
 * The manager's orders to this service, each repeated until it has heard that it is followed. If a lost session interrupts one, it is asked
 * for again, or no longer matters.
 */
export class Orders {
  /** Loads the folder again, once for each id. */
  readonly reload: (reloadId: string) => void;
  readonly #parts: OrdersParts;
  readonly #intake = new LastHeard();

  constructor(parts: OrdersParts) {
    this.#parts = parts;
    this.reload = parts.reload;
  }

  /** Takes nothing more, and gives back what runs. Safe to repeat. */
  drain(sentAtMs?: number): void {
    const { drain, tell, isEnding, stopTimeoutMs, fail } = this.#parts;
    if (isEnding() || this.#isOlder("drain", sentAtMs)) return;
    if (drain.begun) return tell();
    drain.run("the manager asked for it", stopTimeoutMs).then(() => this.#answer(), fail);
  }

  /** Takes nothing more. Safe to repeat. */
  cordon(sentAtMs?: number): void {
    if (!this.#isOlder("cordon", sentAtMs)) this.#follow("cordon", () => this.#parts.drain.cordon());
  }

  /** Takes work again. */
  uncordon(sentAtMs?: number): void {
    if (!this.#isOlder("uncordon", sentAtMs)) this.#follow("uncordon", () => this.#parts.drain.goOn());
  }

  /** Gives these runs to others. */
  give(runs: Parameters<Shed["give"]>[0]): void {
    this.#follow("shed", () => this.#parts.shed.give(runs));
  }

  /** Takes nothing for a moment, so that others get what comes. */
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
