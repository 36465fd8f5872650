import type { Delivery } from "@unacked/broker";

/** The message of a task, or its part of a message for many. */
export interface TaskMessage extends Pick<Delivery, "generation" | "deliveryCount" | "settle"> {
  /** Whether others came with it, so that it cannot go back to the queue alone. */
  readonly isShared: boolean;
}

/** A message of one task. */
export const ownMessage = (delivery: Delivery): TaskMessage => {
  delivery.shed();
  const { generation, deliveryCount } = delivery;
  return { generation, deliveryCount, isShared: false, settle: (how) => delivery.settle(how) };
};

/** The parts of a bundle's message, which is acked when each has been settled. A crash before that brings the whole bundle back. */
export function partsOf(delivery: Delivery, count: number): TaskMessage {
  delivery.shed();
  const { generation, deliveryCount } = delivery;
  let left = count;
  const settle = (): boolean => {
    left -= 1;
    return left > 0 || delivery.settle("ack");
  };
  return { generation, deliveryCount, isShared: true, settle };
}
