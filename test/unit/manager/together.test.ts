import { expect, it } from "vitest";
import { RefusedByDatabase } from "../../../services/observer-manager/src/operations/books/books-store.ts";
import { Together } from "../../../services/observer-manager/src/operations/together.ts";

interface One {
  id: string;
  size?: number;
  alone?: boolean;
}

/** The first call holds the transaction until all have come. */
function gathered(fails: (together: One[]) => Error | undefined = () => undefined) {
  const transactions: string[][] = [];
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const together = new Together<One, string>({
    maxSize: 4,
    sizeOf: ({ size = 1 }) => size,
    keysOf: ({ id }) => [id],
    isAlone: ({ alone = false }) => alone,
    async run(some) {
      transactions.push(some.map(({ id }) => id));
      if (transactions.length === 1) await held;
      const error = fails(some);
      if (error) throw error;
      return some.map(({ id }) => `did ${id}`);
    },
  });
  const doAll = async (ones: One[]) => {
    const answers = ones.map((one) => together.do(one).catch((error: Error) => error.message));
    release();
    return Promise.all(answers);
  };
  return { transactions, doAll };
}

it("What comes while a transaction is under way shares the next one, and each is answered for itself, in order", async () => {
  const { transactions, doAll } = gathered();
  const ids = ["a", "b", "c", "d", "e", "f"];
  expect(await doAll(ids.map((id) => ({ id })))).toEqual(ids.map((id) => `did ${id}`));
  expect(transactions).toEqual([["a"], ["b", "c", "d", "e"], ["f"]]);
});

it("None is larger than it may be, but for one that is by itself; none has two of one key; and what goes alone does", async () => {
  const { transactions, doAll } = gathered();
  await doAll([
    { id: "first" },
    { id: "a", size: 3 },
    { id: "b", size: 2 },
    { id: "b" },
    { id: "c", size: 9 },
    { id: "d" },
    { id: "e", alone: true },
    { id: "f" },
    { id: "g" },
  ]);
  expect(transactions).toEqual([["first"], ["a"], ["b"], ["b"], ["c"], ["d"], ["e"], ["f", "g"]]);
});

it("One that PostgreSQL refuses costs its neighbours nothing; while the database is away all hear of it", async () => {
  const refused = gathered((some) => (some.some(({ id }) => id === "bad") ? new RefusedByDatabase("no") : undefined));
  expect(await refused.doAll(["first", "a", "bad", "b"].map((id) => ({ id })))).toEqual([
    "did first",
    "did a",
    "no",
    "did b",
  ]);
  expect(refused.transactions).toEqual([["first"], ["a", "bad", "b"], ["a"], ["bad"], ["b"]]);
  const away = gathered((some) => (some.length > 1 ? new Error("away") : undefined));
  expect(await away.doAll(["first", "a", "b"].map((id) => ({ id })))).toEqual(["did first", "away", "away"]);
});
