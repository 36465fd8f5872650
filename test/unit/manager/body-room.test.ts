import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { BodyRoom } from "../../../services/observer-manager/src/adapters/http/server/body-room.ts";

const here = new AbortController().signal;
const NEVER_MS = 600_000;

/** What has been begun, by its length. */
function taking(room: BodyRoom): { begun: number[]; take(bytes: number): Promise<() => void> } {
  const begun: number[] = [];
  const take = async (bytes: number) => {
    const giveBack = await room.take(bytes, here);
    begun.push(bytes);
    return giveBack ?? expect.fail("no room in time");
  };
  return { begun, take };
}

test("Bodies that fit together are taken together; one more waits until one of them is done", async () => {
  const { begun, take } = taking(new BodyRoom({ bytes: 100, maxWaitMs: NEVER_MS }));
  const [first] = await Promise.all([take(60), take(40)]);
  const third = take(50);
  await turn();
  expect(begun).toEqual([60, 40]);
  first?.();
  await third;
  expect(begun).toEqual([60, 40, 50]);
});

test("One that is longer than the whole room is taken when it is alone", async () => {
  const { take } = taking(new BodyRoom({ bytes: 100, maxWaitMs: NEVER_MS }));
  const giveBack = await take(1_000);
  const next = take(1);
  giveBack();
  await next;
});

test("They come in turn: a long one is not passed by shorter ones that would fit", async () => {
  const { begun, take } = taking(new BodyRoom({ bytes: 100, maxWaitMs: NEVER_MS }));
  const first = await take(50);
  const others = [take(90), take(20)];
  await turn();
  expect(begun).toEqual([50]);
  first();
  (await others[0])?.();
  await others[1];
  expect(begun).toEqual([50, 90, 20]);
});

test("Where there is none in time nothing is taken, and those behind come sooner", async () => {
  const room = new BodyRoom({ bytes: 100, maxWaitMs: 20 });
  await room.take(50, here);
  const inVain = room.take(90, here);
  const behind = room.take(20, here);
  expect(await inVain).toBeUndefined();
  expect(await behind).toBeTypeOf("function");
});

test("Who has gone waits no longer", async () => {
  const room = new BodyRoom({ bytes: 100, maxWaitMs: NEVER_MS });
  await room.take(50, here);
  const gone = new AbortController();
  const left = room.take(90, gone.signal);
  const behind = room.take(20, here);
  gone.abort();
  expect(await left).toBeUndefined();
  expect(await behind).toBeTypeOf("function");
  expect(await room.take(1, gone.signal)).toBeUndefined();
});

test("What is given back twice counts once", async () => {
  const room = new BodyRoom({ bytes: 100, maxWaitMs: 20 });
  const giveBack = await room.take(60, here);
  await room.take(40, here);
  giveBack?.();
  giveBack?.();
  expect(await room.take(61, here)).toBeUndefined();
  expect(await room.take(60, here)).toBeTypeOf("function");
});
