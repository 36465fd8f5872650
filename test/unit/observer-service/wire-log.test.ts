import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { FromSlotSchema } from "../../../services/observer-service/src/keeper/slots/process/slot-messages.ts";
import { WireLog } from "../../../services/observer-service/src/slot/wire-log.ts";
import type { FromSlot } from "../../../services/observer-service/src/wire/messages.ts";

let sent: FromSlot[];
let wireLog: WireLog;

beforeEach(() => {
  sent = [];
  const wire = { send: (message: FromSlot) => void sent.push(message), sendJson: (json: string) => takeJson(json) };
  wireLog = new WireLog(wire, "info");
});

/** As the keeper would. */
const takeJson = (json: string): void => void sent.push(FromSlotSchema.parse(JSON.parse(json)));

const says = (fields: object, message = "said"): void => wireLog.of(1).info({ fields }, message);
const fieldsOf = (line: FromSlot | undefined) => (line?.kind === "log" ? line.fields?.["fields"] : undefined);

it("values that are not JSON are written all the same: BigInt, and what leads back to itself", () => {
  const ring: Record<string, unknown> = { n: 1 };
  ring["self"] = ring;
  const shared = { a: 1 };
  says({ small: 7n, large: 2n ** 64n, ring, one: shared, other: shared });
  expect(fieldsOf(sent[0])).toEqual({
    small: 7,
    large: "18446744073709551616",
    ring: { n: 1, self: "[Circular]" },
    one: { a: 1 },
    other: { a: 1 },
  });
});

it("an error among the fields, which is what one logs most, is written with its name, message and cause, at any depth", () => {
  const error = new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") });
  const told = { name: "TypeError", message: "fetch failed: connect ECONNREFUSED" };
  says({ error, all: [{ status: "rejected", reason: error }] });
  says({ error, big: 1n });
  expect(sent.map(fieldsOf)).toEqual([
    { error: told, all: [{ status: "rejected", reason: told }] },
    { error: told, big: 1 },
  ]);
});

it("lines that cannot be written take no credit: what is logged after thousands of them is sent", () => {
  const hostile = {
    get boom(): never {
      throw new Error("boom");
    },
  };
  for (let i = 0; i < 2_001; i += 1) expect(() => says({ hostile })).toThrow("boom");
  says({}, "still heard");
  expect(sent).toMatchObject([{ kind: "log", message: "still heard" }]);
});

it("a long line is cut in its slot, by the log's own measure, and hides what the log hides", () => {
  const body = { params: { secret: "s" }, text: "x".repeat(5_000_000) };
  says({ body }, "y".repeat(5_000_000));
  const [line] = sent;
  const size = JSON.stringify(line).length;
  expect(size).toBeLessThan(65_536);
  expect(line).toMatchObject({ message: `${"y".repeat(8_191)}…`, fields: { cutFrom: expect.any(Number) } });
  expect(fieldsOf(line)).toMatch(/^\{"body":\{"params":"\(not logged\)","text":"x+…$/);
});

it("long lines take the credit of several, and give back as much when they are written", () => {
  for (let i = 0; i < 2_000; i += 1) says({}, "x".repeat(60_000));
  const atFirst = sent.length;
  expect(atFirst).toBeLessThan(20);
  says({}, "dropped");
  expect(sent).toHaveLength(atFirst);
  wireLog.written(atFirst);
  for (let i = 0; i < 2_001; i += 1) says({}, "short");
  expect(sent).toHaveLength(atFirst + 2_000);
});

const LIMIT_OF_ONE = 2_000;

/** @returns what of it was sent */
function flood(attempt: number): number {
  const before = sent.length;
  const log = wireLog.of(attempt);
  for (let i = 0; i < 3 * LIMIT_OF_ONE; i += 1) log.info({ fields: {} }, "flood");
  return sent.length - before;
}

it("one that floods costs its neighbours no line, nor do some that flood", () => {
  expect(flood(1)).toBe(LIMIT_OF_ONE);
  for (let i = 0; i < 20; i += 1) wireLog.of(2).info({ fields: {} }, "quiet");
  expect(sent.slice(LIMIT_OF_ONE)).toHaveLength(20);
  for (let attempt = 3; attempt < 7; attempt += 1) flood(attempt);
  wireLog.of(7).info({ fields: {} }, "quiet");
  expect(sent.at(-1)).toMatchObject({ attempt: 7, message: "quiet" });
});

it("what is given back is shared by who floods then: who came later has as much as who was there, or half of it", () => {
  flood(1);
  let [first, later] = [0, 0];
  for (let turn = 0; turn < 10; turn += 1) {
    wireLog.written(1_000);
    later += flood(2);
    first += flood(1);
  }
  expect(first + later).toBeGreaterThanOrEqual(10_000);
  expect(Math.min(first, later)).toBeGreaterThan(2_500);
});

it("why one has failed is sent, however much it logged before; that it logs what cannot be written is not", () => {
  flood(1);
  wireLog.of(1).warn({ event: "log-fields-unwritable" }, "unwritable");
  wireLog.of(1).warn({ event: "observer-error" }, "the handler has failed");
  expect(sent.slice(LIMIT_OF_ONE)).toMatchObject([{ message: "the handler has failed", isHandlers: false }]);
});

it("what was dropped of one is told when it settles, once", () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const told = () => sent.filter(({ kind }) => kind === "lines-dropped");
  flood(1);
  wireLog.settled(2);
  wireLog.settled(1);
  expect(told()).toEqual([{ kind: "lines-dropped", attempt: 1, lines: 2 * LIMIT_OF_ONE }]);
  wireLog.settled(1);
  vi.runAllTimers();
  expect(told()).toHaveLength(1);
});
