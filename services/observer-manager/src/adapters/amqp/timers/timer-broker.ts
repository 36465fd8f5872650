import { Publisher, type Session } from "@unacked/broker";
import { EXCHANGES } from "@unacked/contracts";
import type { Log } from "../../../operations/log.ts";
import type { TimerSender } from "../../../operations/timers/timer-firer.ts";
import type { DueTimer, FiringOutcome } from "../../../operations/timers/timer-store.ts";
import type { AmqpSettings } from "../amqp-settings.ts";
import { TimerPublisher } from "./timer-publisher.ts";

/** Time under an alarm does not count. The session ends after this, so that no copy is left waiting in a socket. */
const CONFIRM_TIMEOUT_MS = 10_000;

/** Fires timers, on connections of its own, so that a refusal or a flood here holds up nothing else. */
export class TimerBroker implements TimerSender {
  readonly #main: Publisher;
  readonly #aside: Publisher;
  readonly #publisher: TimerPublisher;
  readonly #managerId: string;
  readonly #log: Log;
  #last = { ms: Number.NaN, iso: "" };

  constructor({ broker, managerId }: AmqpSettings) {
    this.#managerId = managerId;
    this.#log = broker.log;
    const publishing = {
      confirmTimeoutMs: CONFIRM_TIMEOUT_MS,
      declare: (session: Session) => session.declareExchange(EXCHANGES.timers),
    };
    this.#main = new Publisher({ ...broker, connectionName: "unacked-manager-timers" }, publishing);
    const aside = { ...broker, connectionName: "unacked-manager-timers-aside" };
    this.#aside = new Publisher(aside, { ...publishing, mustBeTaken: () => true });
    this.#publisher = new TimerPublisher(this.#main, this.#aside);
  }

  start(): void {
    this.#main.start();
  }

  async close(): Promise<void> {
    await Promise.all([this.#main.close(), this.#aside.close()]);
  }

  ready(signal: AbortSignal): Promise<void> {
    return this.#main.writable(signal);
  }

  /** Reuses the last text, as timers due in one millisecond come one after the other. */
  #isoOf(ms: number): string {
    if (this.#last.ms !== ms) this.#last = { ms, iso: new Date(ms).toISOString() };
    return this.#last.iso;
  }

  async send({ id, name, payload, atMs }: DueTimer): Promise<FiringOutcome> {
    const outcome = await this.#publisher.publish({
      exchange: EXCHANGES.timers.name,
      routingKey: name,
      type: "Timer",
      messageId: id,
      appId: this.#managerId,
      body: Buffer.from(payload),
      headers: { at: this.#isoOf(Math.floor(atMs)), name },
    });
    if (outcome !== "fired") this.#log.debug({ id, name, outcome }, "a timer was not fired");
    return outcome;
  }
}
