import { newUuid } from "@unacked/contracts";
import type { AmqpSettings } from "./adapters/amqp/amqp-settings.ts";
import { TimerBroker } from "./adapters/amqp/timers/timer-broker.ts";
import type { Channel } from "./adapters/postgres/connection/notifications.ts";
import type { Stores } from "./adapters/postgres/postgres-stores.ts";
import type { Wakeups } from "./operations/changes/change-log.ts";
import { EndedRetention } from "./operations/ended-retention.ts";
import type { Log } from "./operations/log.ts";
import type { TimerTally } from "./operations/tally.ts";
import { TimerDesk } from "./operations/timers/timer-desk.ts";
import { TimerFirer } from "./operations/timers/timer-firer.ts";
import { TimerLeases } from "./operations/timers/timer-leases.ts";
import type { Tries } from "./operations/timers/timer-store.ts";

const FORGOTTEN_AT_ONCE = 5_000;

export interface TimerSideParts {
  amqp: AmqpSettings;
  stores: Pick<Stores, "timers">;
  wakeups: (channel: Channel) => Wakeups;
  tally: TimerTally;
  retentionMs: number;
  log: Log;
}

/** Wires what the manager does at a time, and starts and ends it in order. It decides nothing. */
export class TimerSide {
  readonly desk: TimerDesk;
  readonly #broker: TimerBroker;
  readonly #firers: Record<Tries, TimerFirer>;
  readonly #leases: TimerLeases;
  readonly #retention: EndedRetention;
  readonly #leave: () => Promise<void>;

  constructor({ amqp, stores, wakeups, tally, retentionMs, log }: TimerSideParts) {
    const owner = newUuid();
    const { store, firing } = stores.timers;
    const wake = () => this.wake();
    this.#broker = new TimerBroker(amqp);
    const firer = (tries: Tries) => new TimerFirer({ owner, tries, store: firing, sender: this.#broker, tally, log });
    this.#firers = { first: firer("first"), again: firer("again") };
    this.#leases = new TimerLeases({ owner, store: firing, wake, log });
    this.#retention = new EndedRetention({
      what: "timers",
      forget: (olderThanMs) => firing.forget(olderThanMs, FORGOTTEN_AT_ONCE),
      retentionMs,
      log,
    });
    this.desk = new TimerDesk({ store, wake });
    wakeups("unacked_timers").onWake(wake);
    this.#leave = () =>
      firing.leave(owner).catch((error: unknown) => {
        log.debug({ err: error }, "the lease for firing timers runs out by itself");
      });
  }

  /** Something may be due earlier. */
  wake(): void {
    this.#firers.first.wake();
  }

  start(): void {
    this.#broker.start();
    for (const firer of Object.values(this.#firers)) firer.start();
    this.#leases.start();
    this.#retention.start();
  }

  async close(): Promise<void> {
    // Under an alarm only the publisher's end tells what became of what is on its way; it waits for that a moment.
    const firers = Object.values(this.#firers).map((firer) => firer.stop());
    await Promise.all([...firers, this.#broker.close(), this.#retention.stop(), this.#leases.stop()]);
    await this.#leave();
  }
}
