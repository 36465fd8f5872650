import { beforeEach, expect, it } from "vitest";
import { FromSlotSchema } from "../../../services/observer-service/src/keeper/slots/slot-messages.ts";
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
