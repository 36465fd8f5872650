import type { Delivery } from "@unacked/broker";

/**
 * A message of the state queues may have a MiB, of what handlers gave. A hundred of them, read together, took a manager 600 MiB, and it may have 512:
 * the next one was given the same. Small ones, of which a transaction takes ten thousand events, have less together.
 */
const MOST_BYTES = 8_388_608;

/**
 * In order, those whose bodies have so many bytes together, or one that is larger; the next ones are looked at when they are wanted. Read, JSON may
 * take twenty times as much memory: whoever reads all that has come before he works on the first of it has all of that at once.
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
