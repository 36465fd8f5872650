import type { Delivery, Session } from "@unacked/broker";
import type { Dying } from "./dying.ts";

/** A queue as a broker holds it: what is not acked is given to the next consumer, in the order in which it came. */
export class MemoryQueue {
  /** Each as it was given to a consumer. */
  readonly given: Delivery[] = [];
  #messages: { body: Buffer; messageId: string | undefined }[] = [];
  #give: (message: { body: Buffer; messageId: string | undefined }) => void = () => undefined;

  get size(): number {
    return this.#messages.length;
  }

  publish(body: object | string, messageId?: string): void {
    const message = { body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)), messageId };
    this.#messages.push(message);
    this.#give(message);
  }

  /** A consumer's session; it has all that is there once it consumes. `process` dies at one of its acks. */
  session(process?: Dying): Session {
    const consume = async (queue: string, _: unknown, deliver: (delivery: Delivery) => void) => {
      this.#give = (message) => {
        const settle = (): boolean => {
          this.#messages = this.#messages.filter((one) => one !== message);
          return true;
        };
        const { settle: settleAs } = process?.port({ settle }) ?? { settle };
        const { body, messageId } = message;
        const delivery = { body, properties: { headers: {}, messageId }, queue, settle: settleAs, shed: () => undefined };
        delivery.shed = () => void (delivery.body = Buffer.alloc(0));
        this.given.push(delivery as never);
        deliver(delivery as never);
      };
      for (const message of [...this.#messages]) this.#give(message);
    };
    return { lost: new AbortController().signal, consume, end: () => undefined } as unknown as Session;
  }
}
