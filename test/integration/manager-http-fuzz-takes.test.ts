import { randomUUID } from "node:crypto";
import { PROBLEMS, type TakenTask } from "@unacked/contracts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { startHttpManager } from "../support/rest/http-manager.ts";
import { Takers } from "../support/rest/takers.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { useBooks } from "../support/servers/books.ts";
import { putReady } from "../support/system/waiting-tasks.ts";

const books = useBooks();

const TEXT = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("paint", "\0", "'", "__proto__", randomUUID(), "1e9"));
const JSON_VALUE = fc.jsonValue({ maxDepth: 4, stringUnit: "binary" });
const odd = <Value>(right: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 4, arbitrary: right as fc.Arbitrary<unknown> }, JSON_VALUE, TEXT);

const TAKE = fc.record(
  {
    types: odd(fc.array(fc.constantFrom("paint", "nobody's"), { minLength: 1, maxLength: 3 })),
    pool: odd(fc.constantFrom("default", "other")),
    count: odd(fc.integer({ min: -1, max: 101 })),
    leaseMs: odd(fc.constantFrom(1_000, 60_000, 86_400_000, 86_400_001)),
    wait: odd(fc.constantFrom(0, 1, 50)),
  },
  { requiredKeys: ["types"] },
);
/** Which of those that are taken, if any, and whose send. */
const HELD = fc.record({ which: fc.nat(40), isOwn: fc.integer({ min: 0, max: 4 }) });
const END = fc.record(
  {
    output: odd(JSON_VALUE),
    error: odd(fc.record({ message: fc.string(), name: fc.string() }, { requiredKeys: ["message"] })),
    retryable: odd(fc.boolean()),
    retryInMs: odd(fc.nat(100)),
    leaseMs: odd(fc.constant(1_000)),
    inMs: odd(fc.integer({ min: -1, max: 100 })),
    reason: odd(TEXT),
  },
  { requiredKeys: [] },
);
const REST = {
  complete: ["output"],
  fail: ["error", "retryable", "retryInMs"],
  extend: ["leaseMs"],
  release: ["inMs", "reason"],
} as const;

test.runIf(isTurnOf(2))(
  "no call of a worker outside, however odd, gets a 5xx or leaves a task that is nowhere",
  async () => {
    const manager = await startHttpManager(books.databaseUrl);
    const takers = new Takers(manager.call);
    await putReady(books.dataSource, 2_000, { type: "paint" });
    let held: TakenTask[] = await takers.take({ count: 40 });
    const seen = new Map<string, number>();
    const send = async (what: string, path: string, json: unknown) => {
      const { status, body, text } = await manager.call("POST", path, { json });
      seen.set(`${what} ${status}`, (seen.get(`${what} ${status}`) ?? 0) + 1);
      expect(status, text).toBeLessThan(500);
      if (status >= 400) expect(PROBLEMS[body.code as keyof typeof PROBLEMS].status).toBe(status);
      return { status, body };
    };
    const property = fc.asyncProperty(
      fc.constantFrom("take", "complete", "fail", "extend", "release", "take-back"),
      TAKE,
      HELD,
      END,
      fc.integer({ min: 0, max: 5 }),
      async (what, take, { which, isOwn }, end, surplus) => {
        if (what === "take") {
          const { status, body } = await send(what, "/api/v1/tasks/take", take);
          if (status === 200) held = [...body.tasks, ...held].slice(0, 41);
          return;
        }
        const task = held[which % held.length] as TakenTask;
        if (what === "take-back") return void (await send(what, `/api/v1/tasks/${task.id}/take-back`, undefined));
        const fields =
          surplus === 0
            ? end
            : Object.fromEntries(
                Object.entries(end).filter(([key]) => (REST[what as keyof typeof REST] as readonly string[]).includes(key)),
              );
        const sendId = isOwn > 0 ? task.sendId : randomUUID();
        await send(what, `/api/v1/tasks/${task.id}/${what}`, { sendId, ...fields });
      },
    );
    await fc.assert(property, { numRuns: 2_200 });
    expect(manager.lines.filter((line) => line.level === "error")).toEqual([]);
    process.stdout.write(`${JSON.stringify(Object.fromEntries([...seen].toSorted()))}\n`);
    for (const what of ["take", "complete", "fail", "extend", "release"])
      for (const status of [200, 422]) expect(seen.get(`${what} ${status}`) ?? 0, `${what} ${status}`).toBeGreaterThan(5);
    expect(seen.get("complete 409") ?? 0).toBeGreaterThan(5);
    // Each of them is somewhere, once.
    const [row] = await books.dataSource.query(
      "SELECT count(*)::int AS count, count(DISTINCT id)::int AS ids FROM (SELECT id FROM tasks UNION ALL SELECT id FROM ended_tasks) one",
    );
    expect(row).toEqual({ count: 2_000, ids: 2_000 });
  },
);
