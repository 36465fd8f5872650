import { expect, test } from "vitest";
import { NotTried, PoolWindow } from "../../../services/observer-manager/src/adapters/amqp/pools/pool-window.ts";

/** Starts on their way, and what becomes of them. */
function underWay(window: PoolWindow, count: number) {
  const answers: { confirm(): void; refuse(): void }[] = [];
  const ends: Promise<unknown>[] = [];
  for (let i = 0; i < count; i += 1)
    ends.push(
      window
        .through(
          () =>
            new Promise<void>((resolve, reject) =>
              answers.push({ confirm: resolve, refuse: () => reject(new Error("nacked")) }),
            ),
        )
        .catch((error: unknown) => error),
    );
  return { answers, ends };
}

const turn = () => new Promise(setImmediate);

test("no more than 16 are sent before one is confirmed; with each that is there is room for one more", async () => {
  const window = new PoolWindow();
  const { answers, ends } = underWay(window, 1_000);
  await turn();
  expect(answers).toHaveLength(16);
  let confirmed = 0;
  for (const open of [32, 64, 128, 256, 512]) {
    const sent = answers.length;
    for (; confirmed < sent; confirmed += 1) answers[confirmed]?.confirm();
    await turn();
    expect(answers.length - confirmed).toBe(Math.min(open, 1_000 - confirmed));
  }
  for (const { confirm } of answers) confirm();
  expect(await Promise.all(ends)).toEqual(Array(1_000).fill(undefined));
  expect(window.isIdle).toBe(true);
});

test("what waits behind one that is not taken is not tried, and the next begin with 16", async () => {
  const window = new PoolWindow();
  const { answers, ends } = underWay(window, 100);
  await turn();
  for (const { confirm } of [...answers]) confirm();
  await turn();
  expect(answers).toHaveLength(48);
  for (const { refuse } of answers) refuse();
  const told = await Promise.all(ends);
  expect(told.filter((error) => error === undefined)).toHaveLength(16);
  expect(told.filter((error) => error instanceof NotTried)).toHaveLength(52);
  expect(window.isIdle).toBe(true);
  const next = underWay(window, 100);
  await turn();
  expect(next.answers).toHaveLength(16);
});
