import type { Delivery } from "@unacked/broker";
import { readableBytes } from "@unacked/contracts";
import type { NewError } from "../../../operations/books/books-store.ts";
import { unreadableMessage } from "./unreadable-message.ts";

/**
 * An honest message of a state queue has 256 KiB (of 0.1.0 a MiB), or one event that is longer. The longest of these: the birth of a service with
 * schemas of 2 MiB, of params and checkpoints together, and a thousand descriptions (5 MiB), the inventory of 65,535 tasks (2.5 MiB), an end of a task
 * that creates others (1 MiB, and twice that where each character in it is escaped). The broker takes 16 MiB, RabbitMQ before 4 takes 128.
 */
export const MAX_STATE_MESSAGE_BYTES = 8_388_608;

/**
 * Messages that no honest sender has sent. Each is released when it comes, so that those taken ahead are not held in memory. They are
 * recorded as errors.
 */
export class LongMessages {
  readonly #errors = new WeakMap<Delivery, Omit<NewError, "reporter">>();

  /** Called for each delivery when it comes. */
  readonly shed = (delivery: Delivery): void => {
    const bytes = delivery.body.length;
    if (bytes <= MAX_STATE_MESSAGE_BYTES) return;
    const most = readableBytes(MAX_STATE_MESSAGE_BYTES);
    const error = unreadableMessage(
      delivery,
      `longer than a message of this queue may be: ${bytes} bytes, of at most ${most}`,
    );
    this.#errors.set(delivery, error);
    delivery.shed();
  };

  /** Undefined if it is no such message. */
  errorOf(delivery: Delivery): Omit<NewError, "reporter"> | undefined {
    return this.#errors.get(delivery);
  }
}
