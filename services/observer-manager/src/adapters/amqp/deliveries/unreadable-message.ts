import type { Delivery } from "@unacked/broker";
import { looksLikeUuid, reportBody } from "@unacked/contracts";
import type { NewError } from "../../../operations/books/books-store.ts";

/** A message that did not decode, as an error to be recorded. */
export function unreadableMessage(delivery: Delivery, detail: string): Omit<NewError, "reporter"> {
  const messageId = uuidOf(delivery.properties.messageId);
  return { reason: "unreadable", detail, queue: delivery.queue, messageId, ...reportBody(delivery.body) };
}

/** The sender chose the property, so it need not be an id. */
export const uuidOf = (messageId: string | undefined): string | null =>
  messageId !== undefined && looksLikeUuid(messageId) ? messageId : null;
