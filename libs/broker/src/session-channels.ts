import type { Channel } from "amqplib";
import type { BrokerLog } from "./broker-settings.ts";
import type { LossKind } from "./loss-kind.ts";
import { lossReason } from "./loss-reason.ts";
import type { SessionLoss } from "./session-loss.ts";

/** The channels that a session cannot do without: whichever of them closes, the session is lost. */
export class SessionChannels {
  readonly #loss: SessionLoss;
  readonly #log: BrokerLog;
  readonly #open = new Set<Channel>();
  #isSetUp = false;

  constructor(loss: SessionLoss, log: BrokerLog) {
    this.#loss = loss;
    this.#log = log;
  }

  /** From now on a refused operation does not count as a failed set-up. */
  markSetUp(): void {
    this.#isSetUp = true;
  }

  /** @param role for the log, and for why the session is lost */
  async open<C extends Channel>(role: string, open: () => Promise<C>): Promise<C> {
    this.#loss.throwIfLost();
    const channel = await this.#loss.reply(`open the ${role} channel`, open());
    this.#open.add(channel);
    const closedKind = (): LossKind => (this.#isSetUp ? "channel-closed" : "setup-failed");
    channel.on("error", (error: Error) => this.#loss.lose(lossReason(closedKind(), error)));
    channel.on("close", () => {
      this.#open.delete(channel);
      // When the whole connection closes, amqplib closes its channels first: let the connection say why.
      queueMicrotask(() => this.#loss.lose(lossReason(closedKind(), `the ${role} channel closed`)));
    });
    channel.on("handler-error", (error: Error) => this.#log.error({ err: error }, `a handler of the ${role} channel threw`));
    return channel;
  }

  /** Acks on their way arrive first. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#open].map((channel) => channel.close()));
  }
}
