import { newMessageId, newObserverId, newRunId, newServiceId, type ServiceEvent, type ServiceId } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import type {
  ReceivedBatch,
  ReceivedMessage,
} from "../../../services/observer-manager/src/domain/books/received-message.ts";
import { sideBySide } from "../../../services/observer-manager/src/domain/books/side-by-side.ts";

const runOf = (observerId = newObserverId()) => ({
  ...{ observerId, runId: newRunId(), messageId: newMessageId(), revision: 1, at: 1 },
});
const started = (observerId = newObserverId()): ServiceEvent => ({ kind: "RunStarted", ...runOf(observerId), attempt: 1 });
const many = (count: number) => Array.from({ length: count }, () => started());
const batch = (serviceId: ServiceId, seq: number, events: ServiceEvent[]): ReceivedBatch => ({
  ...({ kind: "EventBatch", serviceName: "s", pool: "default", workerCount: 5, generation: 1 } as const),
  ...{ serviceId, seq, events },
});
const [a, b, c] = [newServiceId(), newServiceId(), newServiceId()];
const plain = () => [batch(a, 1, many(400)), batch(b, 7, many(300)), batch(a, 2, many(400)), batch(c, 1, many(500))];

/** Which message of these stands where. */
const placesOf = (messages: ReceivedMessage[]) =>
  sideBySide(messages).map((part) => part.map((one) => messages.indexOf(one)));

describe("what two transactions can apply at once", () => {
  it("is a half of the events each, a service's own always in one, in its order", () => {
    expect(placesOf(plain())).toEqual([
      [0, 2],
      [1, 3],
    ]);
  });

  it("is all in one where there is little, nothing, or one service", () => {
    expect(placesOf([batch(a, 1, many(499)), batch(b, 1, many(2_000))])).toEqual([[0, 1]]);
    expect(placesOf([batch(a, 1, many(500)), batch(b, 1, many(2_000))])).toHaveLength(2);
    expect(placesOf([batch(a, 1, many(2_000)), batch(a, 2, many(2_000))])).toEqual([[0, 1]]);
    expect(placesOf([])).toEqual([[]]);
  });

  it("is all in one where two services tell of the same observer: its end here is before its start there", () => {
    const observerId = newObserverId();
    const moved = [...plain(), batch(a, 3, [started(observerId)]), batch(c, 2, [started(observerId)])];
    expect(placesOf(moved)).toEqual([[0, 1, 2, 3, 4, 5]]);
    const again = [...plain(), batch(a, 3, [started(observerId)]), batch(a, 4, [started(observerId)])];
    expect(placesOf(again)).toHaveLength(2);
  });

  it("is all in one where two services tell of the same run, whose row only the lock of its observer guards", () => {
    const run = runOf();
    const other = { ...run, observerId: newObserverId() };
    const [here, there] = [run, other].map((one): ServiceEvent => ({ kind: "RunStarted", ...one, attempt: 1 }));
    const told = [...plain(), batch(a, 3, here ? [here] : []), batch(c, 2, there ? [there] : [])];
    expect(placesOf(told)).toEqual([[0, 1, 2, 3, 4, 5]]);
  });

  it.each<[string, ReceivedMessage]>([
    ["a death", { kind: "DeathCertificate", serviceId: c, generation: 1 } as ReceivedMessage],
    ["a service's end", batch(c, 2, [{ kind: "ServiceDied", at: 1, reason: "stopped" } as ServiceEvent])],
    ["what is given back", batch(c, 2, [{ kind: "RunReleased", ...runOf(), reason: "draining" }])],
    ["a seen marker", batch(c, 2, [{ kind: "MarkerSeen", at: 1, markerId: newMessageId() } as unknown as ServiceEvent])],
    ["what nobody understands", { ...batch(c, 2, []), leftOut: [{ item: {}, reason: "no kind" }] }],
  ])("is all in one where %s is among it", (_, message) => {
    expect(placesOf([...plain(), message])).toEqual([[0, 1, 2, 3, 4]]);
  });

  it("leaves out no message and no order of a service, however many there are of each", () => {
    const services = Array.from({ length: 30 }, () => newServiceId());
    const messages = services.flatMap((id, n) => [1, 2, 3].map((seq) => batch(id, seq, many((n * 7) % 40))));
    const parts = sideBySide(messages);
    expect(parts).toHaveLength(2);
    const places = placesOf(messages).map((part) => part.toSorted((x, y) => x - y));
    expect(places, "in the order in which they came").toEqual(placesOf(messages));
    expect(places.flat().toSorted((x, y) => x - y)).toEqual(messages.map((_, place) => place));
    const [first = new Set(), second = new Set()] = parts.map((part) => new Set(part.map(({ serviceId }) => serviceId)));
    expect([...first].filter((id) => second.has(id))).toEqual([]);
    const counts = parts.map((part) => part.reduce((sum, one) => sum + ("events" in one ? one.events.length : 0), 0));
    expect(Math.abs((counts[0] ?? 0) - (counts[1] ?? 0))).toBeLessThan(150);
  });
});
