import { PublishError, Publisher } from "@unacked/broker";
import { EXCHANGES } from "@unacked/contracts";
import type { Log } from "../../../operations/log.ts";
import type { TimerSender } from "../../../operations/timers/timer-firer.ts";
import type { DueTimer, FiringOutcome } from "../../../operations/timers/timer-store.ts";
import type { AmqpSettings } from "../amqp-settings.ts";

/** Not counted under an alarm. The session ends with it, so that no copy is left waiting in a socket. */
const CONFIRM_TIMEOUT_MS = 10_000;

/** Fires timers, on a connection of its own: what is refused here, or floods, holds up nothing else. */
export class TimerBroker implements TimerSender {
  readonly #publisher: Publisher;
  readonly #managerId: string;
  readonly #log: Log;
  #last = { ms: Number.NaN, iso: "" };

  constructor({ broker, managerId }: AmqpSettings) {
    this.#managerId = managerId;
    this.#log = broker.log;
    this.#publisher = new Publisher(
      { ...broker, connectionName: "unacked-manager-timers" },
      {
        confirmTimeoutMs: CONFIRM_TIMEOUT_MS,
        declare: (session) => session.declareExchange(EXCHANGES.timers),
      },
    );
  }

  start(): void {
    this.#publisher.start();
  }

  close(): Promise<void> {
    return this.#publisher.close();
  }

  ready(signal: AbortSignal): Promise<void> {
    return this.#publisher.writable(signal);
  }

  /** Many that are due in one millisecond come one after the other. */
  #isoOf(ms: number): string {
    if (this.#last.ms !== ms) this.#last = { ms, iso: new Date(ms).toISOString() };
    return this.#last.iso;
  }

  async send({ id, name, payload, atMs }: DueTimer): Promise<FiringOutcome> {
    try {
      await this.#publisher.publish({
        exchange: EXCHANGES.timers.name,
        routingKey: name,
        type: "Timer",
        messageId: id,
        appId: this.#managerId,
        body: Buffer.from(payload),
        headers: { at: this.#isoOf(Math.floor(atMs)), name },
      });
      return "fired";
    } catch (error) {
      this.#log.debug({ id, name, err: error }, "a timer was not fired");
      return error instanceof PublishError ? outcomeOf(error.code) : "unknown";
    }
  }
}

function outcomeOf(code: PublishError["code"]): FiringOutcome {
  switch (code) {
    case "returned":
      return "returned";
    case "nacked":
    case "invalid": // checked before it was taken; if not, it is tried until it expires, and seen
      return "refused";
    case "lost":
    case "too-late":
      return "unknown";
    case "unavailable":
    case "overflow":
    case "unwanted":
      return "not-sent";
    default:
      return code satisfies never;
  }
}
