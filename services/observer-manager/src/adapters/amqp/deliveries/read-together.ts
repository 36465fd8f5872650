import type { Delivery } from "@unacked/broker";

/**
 * The most bytes of bodies read together. A message of the state queues may have a MiB of handlers' output: a hundred of them, read
 * together, took a manager 600 MiB, and it may have 512; the next manager was given the same. Small ones, of which a transaction takes ten
 * thousand events, have less together.
 */
const MOST_BYTES = 8_388_608;

/**
 * Yields, in order, deliveries whose bodies have at most this many bytes together, or a larger one alone. The next ones are read only when
 * they are wanted: JSON that is read may take twenty times as much memory, and to read everything before the first is handled would hold
 * all of it at once.
 */
export function* readTogether(deliveries: readonly Delivery[], mostBytes = MOST_BYTES): Generator<Delivery[]> {
  let some: Delivery[] = [];
  let bytes = 0;
  for (const delivery of deliveries) {
    if (some.length > 0 && bytes + delivery.body.length > mostBytes) {
      yield some;
      some = [];
      bytes = 0;
    }
    some.push(delivery);
    bytes += delivery.body.length;
  }
  if (some.length > 0) yield some;
}
