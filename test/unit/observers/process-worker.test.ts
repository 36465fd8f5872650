import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { MAX_WORKER_LINE, readWorkerMessage } from "../../../observers/process/worker-message.ts";
import { WorkerSaves } from "../../../observers/process/worker-saves.ts";

const read = (line: string) => readWorkerMessage({ line });

test("a message is an object with one key that is known", () => {
  expect(read('{"emit":[1]}')).toEqual({ kind: "emit", event: [1] });
  expect(read(' {"checkpoint": null} ')).toEqual({ kind: "checkpoint", value: null });
  expect(read('{"alive":true}')).toEqual({ kind: "alive" });
  expect(read('{"log":"x"}')).toEqual({ kind: "log", level: "info", message: "x" });
  expect(read('{"log":{"message":"x","level":"error","fields":{"a":1}}}')).toEqual({
    ...{ kind: "log", level: "error", message: "x", fields: { a: 1 } },
  });
});

test.each(["", "hello", "[]", '"emit"', "null", '{"emitted":1}', "{}", '{"alive":false}', '{"log":1}', '{"a":1,"b":2}'])(
  "%j is no event that was lost: it is passed over",
  (line) => {
    expect(read(line)).toEqual({ kind: "stray", why: expect.any(String) });
  },
);

test.each(['{"emit":', '{"emit":NaN}', '{"emit":1,"alive":true}', '{"checkpoint":1,"emit":2}', '{"emit":1}{"emit":2}'])(
  "%j may be an event that was lost: it is broken",
  (line) => {
    expect(read(line)).toEqual({ kind: "broken", why: expect.any(String) });
  },
);

test.each(['{"emit":9007199254740993}', '{"checkpoint":{"at":[-1764000000123456789]}}'])(
  "%j has a number that would be rounded: it is broken",
  (line) => expect(read(line)).toEqual({ kind: "broken", why: expect.stringContaining("say it as a text") }),
);

test.each([
  '{"emit":9007199254740991}',
  '{"emit":"9007199254740993"}',
  '{"emit":{"\\"9007199254740993":0.12345678901234567}}',
  '{"emit":12345678901234567e-3}',
])("%s has none", (line) => expect(read(line)).toMatchObject({ kind: "emit" }));

test("a line that was cut is broken, whatever it begins with", () => {
  expect(readWorkerMessage({ line: "x".repeat(MAX_WORKER_LINE), truncated: true })).toMatchObject({ kind: "broken" });
});

/** Saves that are confirmed, or refused, when the test says so. */
function slowSaves() {
  const asked: { value: unknown; confirm: () => void; refuse: (error: Error) => void }[] = [];
  const told: unknown[] = [];
  const saves = new WorkerSaves(
    (value) => new Promise((confirm, refuse) => asked.push({ value, confirm, refuse })),
    (number) => told.push(number),
    (error) => told.push(String(error)),
  );
  return { saves, told, asked, values: () => asked.map(({ value }) => value) };
}

const turn = () => new Promise(setImmediate);

test("one checkpoint is being saved, the latest waits, those between are never asked for: what is told is the number", async () => {
  const { saves, told, asked, values } = slowSaves();
  for (let n = 1; n <= 10_000; n += 1) saves.take(`at ${n}`);
  expect(values()).toEqual(["at 1"]);
  asked[0]?.confirm();
  await turn();
  expect([values(), told]).toEqual([["at 1", "at 10000"], [1]]);
  asked[1]?.confirm();
  await turn();
  expect(told).toEqual([1, 10_000]);
});

test("what waits when the worker is over is handed over at once, and nothing behind it", async () => {
  const { saves, values } = slowSaves();
  for (const value of ["a", "b", "c"]) saves.take(value);
  saves.finish();
  saves.take("d");
  expect(values()).toEqual(["a", "c"]);
});

test("behind one that was refused none is saved", async () => {
  const { saves, told, asked, values } = slowSaves();
  saves.take("a");
  saves.take("b");
  asked[0]?.refuse(new Error("no"));
  await turn();
  saves.take("c");
  saves.finish();
  expect([values(), told]).toEqual([["a"], ["Error: no"]]);
});

test("the page shows the worker that the tests run, word for word, and every message", () => {
  const page = readFileSync("docs/ways-in.md", "utf8");
  const shown = /^```python\n(.*?)^```$/ms.exec(page)?.[1];
  const worker = readFileSync("test/fixtures/workers/counter.py", "utf8");
  expect(shown).toBe(worker);
  expect(worker.split("\n").filter((line) => line.trim() !== "").length).toBeLessThanOrEqual(20);
  for (const key of ["start", "saved", "stop", "emit", "checkpoint", "alive", "log"])
    expect(page).toContain(`\`{"${key}": `);
});
