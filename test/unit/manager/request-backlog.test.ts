import type { Delivery, Session } from "@unacked/broker";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RequestConsumer } from "../../../services/observer-manager/src/adapters/amqp/requests/request-consumer.ts";
import type { AdmittedRequest } from "../../../services/observer-manager/src/operations/requests/request.ts";
import { RequestGate } from "../../../services/observer-manager/src/operations/requests/request-gate.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

const log = { info() {}, warn() {}, error() {}, debug() {} };
const PREFETCH = 100;
/** Five at once. */
const USERS = { shop: { role: "operator" as const, timers: ["*"], perMinute: 30 } };

const untilQuiet = async () => {
  for (let i = 0; i < 200; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** A consumer of a queue in which so many wait. @param workMs what deciding any of them together takes */
async function consuming(waiting: number, workMs = 0) {
  const outcomes: string[] = [];
  let [ready, unacked] = [waiting, 0];
  let give: (delivery: Delivery) => void = () => undefined;
  const body = Buffer.from('{"cancelTimers":["01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f41"]}');
  const properties = { userId: "shop", messageId: "m", replyTo: "shop.r", headers: {} };
  const settle = () => {
    unacked -= 1;
    handOut();
    return true;
  };
  const handOut = (): void => {
    while (ready > 0 && unacked < PREFETCH) {
      ready -= 1;
      unacked += 1;
      give({ body, properties, redelivered: false, queue: "q", shed() {}, settle } as never);
    }
  };
  const decide = async (requests: readonly AdmittedRequest[]) => {
    vi.advanceTimersByTime(workMs);
    return new Map(requests.map((one) => [one, { outcome: "done", user: "shop" }]));
  };
  const consumer = new RequestConsumer({
    gate: new RequestGate({ users: USERS, sha256: String, nowMs: () => 0 }),
    desk: { decide } as never,
    replies: { send: async () => true } as never,
    errors: { record: async () => {} },
    tally: { answered: (_, outcome) => void outcomes.push(outcome), decided() {} },
    reporter: "a manager",
    log,
  });
  const session = {
    lost: new AbortController().signal,
    consume: async (_: string, __: object, onDelivery: typeof give) => void (give = onDelivery),
    // What was handed out is not counted.
    async inspect() {
      await new Promise((resolve) => setImmediate(resolve));
      return { messageCount: ready };
    },
    end() {},
  };
  await consumer.begin(session as unknown as Session);
  const publish = async (count: number) => {
    ready += count;
    handOut();
    await untilQuiet();
    return outcomes.splice(0);
  };
  return publish;
}

const count = (outcomes: readonly string[], outcome: string) => outcomes.filter((one) => one === outcome).length;

test.each([1, 60, 100, 101, 400])(
  "Of %i requests that stood in the queue none counts, and what comes later does",
  async (waiting) => {
    const publish = await consuming(waiting);
    expect(count(await publish(0), "done")).toBe(waiting);
    const later = await publish(20);
    expect([count(later, "done"), count(later, "too-many")]).toEqual([5, 15]);
  },
);

test("Who keeps the queue filled with what takes long pays for each, as for any other", async () => {
  const publish = await consuming(1, 6_000);
  expect(await publish(0)).toEqual(["done"]);
  const later = [...(await publish(120)), ...(await publish(120))];
  expect([count(later, "done"), count(later, "too-many")]).toEqual([5, 235]);
});
