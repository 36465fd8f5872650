import { newRunId } from "@unacked/contracts";
import { describe, expect, test } from "vitest";
import { EndedTails } from "../../../services/observer-service/src/keeper/runs/ended-tails.ts";
import { RunTail, tailBytesOf } from "../../../services/observer-service/src/keeper/runs/run-tail.ts";

const BYTES = 32_768;
const messages = (tail: RunTail, after = 0, limit = 1_000) =>
  tail.after(after, limit).map(({ message, json }) => message ?? json);

describe("the tail of a run", () => {
  test("keeps lines and values in the order in which they were said, and gives what came after a place", () => {
    const tail = new RunTail(BYTES);
    tail.line("info", "one", { n: 1 });
    tail.value('{"n":2}');
    tail.line("error", "three", undefined);
    expect(tail.after(0, 10)).toMatchObject([
      { seq: 1, level: "info", message: "one", json: '{"n":1}', cut: false },
      { seq: 2, json: '{"n":2}', cut: false },
      { seq: 3, level: "error", message: "three", cut: false },
    ]);
    expect(tail.after(2, 10).map(({ seq }) => seq)).toEqual([3]);
    expect(tail.after(0, 2).map(({ seq }) => seq)).toEqual([2, 3]);
    expect([tail.after(0, 0), tail.after(3, 10)]).toEqual([[], []]);
    expect(tail.lastSeq).toBe(3);
  });

  test("is bounded by count, lines and values each for themselves: one who emits much does not push out its errors", () => {
    const tail = new RunTail(BYTES);
    tail.line("error", "the error", undefined);
    for (let n = 0; n < 5_000; n += 1) tail.value(String(n));
    expect(messages(tail)).toEqual(["the error", ...Array.from({ length: 20 }, (_, i) => String(4_980 + i))]);
    for (let n = 0; n < 5_000; n += 1) tail.line("info", String(n), undefined);
    expect(tail.after(0, 1_000)).toHaveLength(120);
    expect(tail.lastSeq).toBe(10_001);
  });

  test("says how many lines were dropped, and counts them as said", () => {
    const tail = new RunTail(BYTES);
    tail.line("info", "one", undefined);
    tail.dropped(18_000);
    tail.line("info", "two", undefined);
    expect(tail.after(0, 10)).toMatchObject([
      { seq: 1, message: "one" },
      { seq: 18_002, level: "warn", message: "18000 lines were dropped: it logs faster than its lines can be written" },
      { seq: 18_003, message: "two" },
    ]);
    tail.close();
    tail.dropped(1);
    expect(tail.lastSeq).toBe(18_003);
  });

  test.each([BYTES, tailBytesOf(65_535)])("never takes more than %i bytes, whatever is said", (maxBytes) => {
    const tail = new RunTail(maxBytes);
    for (let n = 0; n < 300; n += 1) {
      const text = "x".repeat((n * 997) % 50_000);
      tail.line("info", text, { text });
      tail.value(JSON.stringify(text));
      expect(tail.bytes).toBeLessThanOrEqual(maxBytes);
    }
    expect(tail.after(0, 1_000).length).toBeGreaterThan(2);
  });

  test("cuts what is long, and says so", () => {
    const tail = new RunTail(BYTES);
    tail.line("info", "m".repeat(10_000), { a: "short" });
    tail.value(JSON.stringify("v".repeat(10_000)));
    const [line, value] = tail.after(0, 10);
    expect(line).toMatchObject({ json: '{"a":"short"}', cut: true });
    expect(line?.message).toMatch(/^m{4095}…$/);
    expect(value?.cut).toBe(true);
    expect(value?.json).toMatch(/^"v{4094}…$/);
  });

  test("takes fields that have no JSON, and errors, which have none worth the name", () => {
    const tail = new RunTail(BYTES);
    const circle: Record<string, unknown> = { name: "circle" };
    circle["self"] = circle;
    const nasty = {
      toJSON() {
        throw new Error("not me");
      },
    };
    for (const fields of [{ error: new TypeError("broken") }, circle, { big: 1n }, { nasty }])
      tail.line("warn", "fields", fields);
    const [error, ...others] = tail.after(0, 10);
    expect(error).toMatchObject({ json: '{"error":{"name":"TypeError","message":"broken"}}', cut: false });
    expect(others.map(({ cut }) => cut)).toEqual([true, true, true]);
    expect(others[0]?.json).toContain("name: 'circle'");
  });

  test("does not have what the log replaces: params and authorization, also where fields have no JSON", () => {
    const tail = new RunTail(BYTES);
    const secret = { params: { password: "hunter2" }, authorization: "Bearer hunter2" };
    const circle: Record<string, unknown> = { ...secret };
    circle["self"] = circle;
    for (const fields of [secret, { request: secret }, circle, { big: 1n, ...secret }]) tail.line("info", "all", fields);
    const kept = JSON.stringify(tail.after(0, 10));
    expect(kept).not.toContain("hunter2");
    expect(kept.match(/\(not logged\)/g)?.length).toBe(8);
  });

  test("hears nothing more when its run is over", () => {
    const tail = new RunTail(BYTES);
    tail.line("info", "last words", undefined);
    tail.close();
    tail.line("info", "a timer that was left behind", undefined);
    tail.value("1");
    expect(messages(tail)).toEqual(["last words"]);
    tail.late("it threw after its end", { name: "Error", message: "lost" });
    expect(messages(tail)).toEqual(["last words", "it threw after its end: Error: lost"]);
  });
});

test("so many workers, so much less for each: together at most 64 MiB, but a little for each in any case", () => {
  expect([1, 100, 2_048].map(tailBytesOf)).toEqual([32_768, 32_768, 32_768]);
  expect(tailBytesOf(10_000)).toBe(6_710);
  expect(tailBytesOf(65_535)).toBe(2_048);
});

test("of runs that ended, the last ones are kept, in two MiB", () => {
  const ended = new EndedTails();
  const ids = Array.from({ length: 400 }, () => newRunId());
  for (const id of ids) {
    const tail = new RunTail(BYTES);
    for (let n = 0; n < 10; n += 1) tail.line("info", "x".repeat(1_000), undefined);
    ended.keep(id, tail);
  }
  const kept = ids.filter((id) => ended.find(id) !== undefined);
  expect(kept).toEqual(ids.slice(-kept.length));
  expect(kept.length).toBe(Math.floor(2_097_152 / (10 * 1_128)));
});
