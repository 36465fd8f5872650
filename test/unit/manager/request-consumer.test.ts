import { randomUUID } from "node:crypto";
import type { Delivery, Session } from "@unacked/broker";
import { expect, test } from "vitest";
import { RequestConsumer } from "../../../services/observer-manager/src/adapters/amqp/requests/request-consumer.ts";
import type { Reply } from "../../../services/observer-manager/src/operations/requests/request.ts";
import { RequestDesk } from "../../../services/observer-manager/src/operations/requests/request-desk.ts";
import { RequestGate } from "../../../services/observer-manager/src/operations/requests/request-gate.ts";
import type {
  RequestStore,
  TimerCancelDecision,
} from "../../../services/observer-manager/src/operations/requests/request-store.ts";
import type { CancelOutcome } from "../../../services/observer-manager/src/operations/timers/timer-store.ts";
import { eventually } from "../../support/eventually.ts";

const tally = { answered() {}, decided() {} };
const log = { info() {}, warn() {}, error() {}, debug() {} };
const USERS = { shop: { role: "operator", timers: ["shop."], perMinute: 6_000 } } as const;
const payload = "x".repeat(3_400);

/** All of them are there, each with a long payload. */
const cancelAll = async (decisions: readonly TimerCancelDecision[]): Promise<string[]> =>
  decisions.map((one) => {
    const timers = one.items.map(({ id }) => ({ kind: "cancelled", timer: { id, status: "Cancelled", payload } }));
    return one.answer(timers as unknown as CancelOutcome[]);
  });

/** A consumer, what it was told to, and what is of it in memory. */
async function consuming() {
  const seen = { acked: 0, replies: [] as string[], charsHeld: 0, mostCharsHeld: 0 };
  const hold = (chars: number): void => {
    seen.charsHeld += chars;
    seen.mostCharsHeld = Math.max(seen.mostCharsHeld, seen.charsHeld);
  };
  const cancelTimers = async (decisions: readonly TimerCancelDecision[]): Promise<string[]> => {
    const answers = await cancelAll(decisions);
    for (const { length } of answers) hold(length);
    return answers;
  };
  const store = { find: async () => new Map(), cancelTimers } as unknown as RequestStore;
  const send = async ({ json }: Reply, correlationId: string): Promise<boolean> => {
    await new Promise((resolve) => setImmediate(resolve)); // the broker's confirm
    hold(-json.length);
    seen.replies.push(correlationId);
    return true;
  };
  const consumer = new RequestConsumer({
    gate: new RequestGate({ users: { ...USERS, shop: { ...USERS.shop, timers: [...USERS.shop.timers] } }, sha256: String }),
    desk: new RequestDesk({ store, types: {} as never, isPassing: () => false, wake() {}, wakeTimers() {}, tally, log }),
    replies: { send } as never,
    errors: { record: async () => {} },
    tally,
    reporter: "a manager",
    log,
  });
  let give: (delivery: Delivery) => void = () => undefined;
  const consume = async (_: string, __: object, onDelivery: typeof give) => void (give = onDelivery);
  await consumer.begin({
    lost: new AbortController().signal,
    consume,
    inspect: async () => ({ messageCount: 0 }),
    end() {},
  } as unknown as Session);
  const ask = (body: object): string => {
    const messageId = randomUUID();
    const properties = { userId: "shop", messageId, replyTo: "shop.r", headers: {} };
    const settle = () => (seen.acked += 1) > 0;
    give({
      body: Buffer.from(JSON.stringify(body)),
      properties,
      redelivered: false,
      queue: "q",
      shed() {},
      settle,
    } as never);
    return messageId;
  };
  return { seen, ask };
}

test("Of short requests with long answers few answers are held at once, and each is told, in order", async () => {
  const { seen, ask } = await consuming();
  const cancels = () => ({ cancelTimers: Array.from({ length: 1_000 }, () => randomUUID()) });
  const asked = Array.from({ length: 25 }, () => ask(cancels()));
  asked.push(ask({}), ask(cancels())); // one that is refused among them
  await eventually(() => expect(seen.acked).toBe(asked.length));
  expect(seen.replies).toEqual(asked);
  expect(seen.mostCharsHeld).toBeGreaterThan(3_000_000);
  expect(seen.mostCharsHeld).toBeLessThan(13_000_000); // each may have four million
});
