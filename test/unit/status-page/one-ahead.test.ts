import { expect, it } from "vitest";
import { oneAhead } from "../../../services/status-page/src/wire/one-ahead.ts";

/** Yields so many, and notes what it was asked for. */
async function* counting(upTo: number, asked: number[]): AsyncGenerator<number, void> {
  for (let item = 1; item <= upTo; item += 1) {
    asked.push(item);
    await Promise.resolve();
    yield item;
  }
}

it("the next is asked for while one is worked on, and all come in order", async () => {
  const asked: number[] = [];
  const seen: { item: number; askedByThen: number }[] = [];
  for await (const item of oneAhead(counting(3, asked))) {
    await new Promise((resolve) => setTimeout(resolve));
    seen.push({ item, askedByThen: asked.length });
  }
  expect(seen).toEqual([
    { item: 1, askedByThen: 2 },
    { item: 2, askedByThen: 3 },
    { item: 3, askedByThen: 3 },
  ]);
});

it("what fails is told when its turn comes, after all before it", async () => {
  async function* failing(): AsyncGenerator<number, void> {
    yield 1;
    await Promise.resolve();
    throw new Error("the second cannot be read");
  }
  const seen: number[] = [];
  const read = async () => {
    for await (const item of oneAhead(failing())) {
      await new Promise((resolve) => setTimeout(resolve));
      seen.push(item);
    }
  };
  await expect(read()).rejects.toThrow("the second cannot be read");
  expect(seen).toEqual([1]);
});

it("whoever stops early ends the source, and a failure of what was asked for ahead is nobody's", async () => {
  let isEnded = false;
  async function* source(): AsyncGenerator<number, void> {
    try {
      yield 1;
      await Promise.resolve();
      throw new Error("not wanted any more");
    } finally {
      isEnded = true;
    }
  }
  for await (const item of oneAhead(source())) if (item === 1) break;
  await new Promise((resolve) => setTimeout(resolve));
  expect(isEnded).toBe(true);
});
