import { expect, test } from "vitest";
import { WireOutput } from "../../../services/observer-service/src/slot/wire-output.ts";
import type { FromSlot } from "../../../services/observer-service/src/wire/messages.ts";

/** So many are on their way to the keeper at once. */
const CREDIT = 1_000;

/** The way out of a slot whose keeper answers nothing by itself. */
function slot() {
  const sent: (FromSlot & { kind: "emit" })[] = [];
  const output = new WireOutput((message) => {
    if (message.kind === "emit") sent.push(message);
  });
  const flood = (attempt: number, count: number) =>
    Promise.allSettled(Array.from({ length: count }, () => output.emit(attempt, "1")));
  const answer = (count: number) => {
    for (const { emit } of sent.splice(0, count)) output.answered(emit, undefined);
  };
  return { output, sent, flood, answer };
}

test("What a run that has settled left in its slot is rejected and not sent, and what is under way is answered", async () => {
  const { output, sent, flood, answer } = slot();
  const emits = flood(1, CREDIT + 1_100);
  expect(output.settled(1)).toBe(1_100);
  answer(CREDIT);
  expect(sent).toEqual([]);
  const settled = await emits;
  expect(settled.slice(0, CREDIT).every(({ status }) => status === "fulfilled")).toBe(true);
  expect(settled.slice(CREDIT)).toEqual(
    Array.from({ length: 1_100 }, () =>
      expect.objectContaining({ reason: expect.objectContaining({ code: "emit-after-end" }) }),
    ),
  );
});

const OVERFLOW = { code: "output-overflow" };

test("What was dropped takes no room: as much may wait as before", async () => {
  const { output, flood } = slot();
  void flood(1, 10_000);
  output.settled(1);
  void flood(2, 10_000); // a thousand of the other are under way
  await expect(output.emit(2, "1")).rejects.toMatchObject({
    ...OVERFLOW,
    message: expect.stringMatching(/^93\d\d emitted/),
  });
});

test("Who emits without awaiting is refused, with how many of its own wait, and who awaits each beside it is not", async () => {
  const { output, flood, answer } = slot();
  for (const attempt of [1, 2]) void flood(attempt, 20_000);
  await expect(output.emit(1, "1")).rejects.toMatchObject({ ...OVERFLOW, message: expect.stringMatching(/^10000 emitted/) });
  const quiet = Array.from({ length: 20_000 }, (_, i) => output.emit(3 + i, "1"));
  answer(1_000);
  for (let left = 40; left > 0; left -= 1) answer(1_000);
  await Promise.all(quiet);
});

test("A run that emits much does not hold up one that emits once; each run's own go in their order", () => {
  const { output, sent, flood, answer } = slot();
  void flood(1, CREDIT + 3);
  void output.emit(2, '"once"');
  answer(2);
  expect(sent.slice(-2).map(({ attempt }) => attempt)).toEqual([1, 2]);
  answer(2);
  const own = sent.filter(({ attempt }) => attempt === 1).map(({ emit }) => emit);
  expect(own).toEqual(own.toSorted((a, b) => a - b));
});

test("Of long events no more than 16 MiB are on their way: they would be in the memory of the service, which holds the lease of all", async () => {
  const { output, sent, answer } = slot();
  const long = JSON.stringify("x".repeat(1_000_000));
  const emits = Array.from({ length: 100 }, () => output.emit(1, long));
  expect(sent).toHaveLength(17);
  for (let round = 0; round < 10; round += 1) {
    answer(17);
    expect(sent.length).toBeLessThanOrEqual(17);
  }
  await Promise.all(emits);
});
