import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { Waits } from "../../../services/observer-manager/src/operations/waits.ts";

const log = { info() {}, warn() {}, error() {}, debug() {} } as never;
const MOST = 10_000;
const NEVER = new AbortController().signal;

function waits() {
  const all = new Waits<string>({ findOver: async () => [] }, log);
  onTestFinished(() => all.close());
  return all;
}

/** Whether it waits. */
const isHeld = async (wait: Promise<unknown>): Promise<boolean> =>
  (await Promise.race([wait.then(() => "over"), delay(20, "held")])) === "held";

test("Who has gone waits no longer, and nothing is read for him any more", async () => {
  const gone = new AbortController();
  const find = vi.fn(async () => ({ isOver: false }));
  const found = waits().found("a", 60_000, { find, isOver: ({ isOver }) => isOver }, gone.signal);
  expect(await isHeld(found)).toBe(true);
  gone.abort();
  await found;
  expect(find).toHaveBeenCalledTimes(2);
});

test("Ten thousand wait, be it for one, and those who leave make room for others", async () => {
  const all = waits();
  const leaving = Array.from({ length: MOST }, () => new AbortController());
  const left = leaving.map(({ signal }) => all.until("a", 60_000, signal));
  expect(await isHeld(all.until("b", 60_000, NEVER))).toBe(false);
  for (const one of leaving) one.abort();
  await Promise.all(left);
  const other = all.until("b", 60_000, NEVER);
  expect(await isHeld(other)).toBe(true);
  all.over(["b"]);
  await other;
});
