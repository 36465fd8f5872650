import type { Delivery } from "@unacked/broker";
import { type DeathCertificate, newServiceId } from "@unacked/contracts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PendingDeaths } from "../../../services/observer-manager/src/adapters/amqp/state/pending-deaths.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const death = (generation = 1, serviceId = newServiceId()): DeathCertificate => ({
  kind: "DeathCertificate",
  serviceId,
  generation,
});

function delivery() {
  const settled: string[] = [];
  return { settled, delivery: { settle: (how: string) => settled.push(how) } as unknown as Delivery };
}

function scene() {
  const due: Delivery[] = [];
  const deaths = new PendingDeaths((one) => due.push(one));
  const session = new AbortController();
  deaths.begin(session.signal);
  return { due, deaths, session };
}

test("a certificate waits unacked, is known meanwhile, and has its turn after a second", () => {
  const { due, deaths } = scene();
  const [one, certificate] = [delivery(), death()];
  expect(deaths.defer(one.delivery, certificate)).toBe(true);
  expect(deaths.isPending(certificate)).toBe(true);
  expect(deaths.isPending({ ...certificate, generation: 2 })).toBe(false);
  vi.advanceTimersByTime(999);
  expect(due).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(due).toEqual([one.delivery]);
  expect(deaths.defer(one.delivery, certificate)).toBe(false);
  // It may have to be applied again, as the database was away: it stays known until it stands in the books.
  expect(deaths.isPending(certificate)).toBe(true);
  deaths.applied(certificate);
  expect(deaths.isPending(certificate)).toBe(false);
  expect(one.settled).toEqual([]);
});

test("one that is told twice is acked, as the first is still there", () => {
  const { due, deaths } = scene();
  const [first, second, certificate] = [delivery(), delivery(), death()];
  deaths.defer(first.delivery, certificate);
  expect(deaths.defer(second.delivery, certificate)).toBe(true);
  expect(second.settled).toEqual(["ack"]);
  vi.advanceTimersByTime(1_000);
  expect(due).toEqual([first.delivery]);
});

test("what waited is dropped with its session: the broker gives it to the next consumer", () => {
  const { due, deaths, session } = scene();
  const [one, certificate] = [delivery(), death()];
  deaths.defer(one.delivery, certificate);
  session.abort();
  vi.advanceTimersByTime(1_000);
  expect(due).toEqual([]);
  deaths.begin(new AbortController().signal);
  expect(deaths.isPending(certificate)).toBe(false);
  const again = delivery();
  expect(deaths.defer(again.delivery, certificate)).toBe(true);
  expect(again.settled).toEqual([]);
});
