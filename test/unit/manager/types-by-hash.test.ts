import { expect, test } from "vitest";
import { TypesByHash } from "../../../services/observer-manager/src/adapters/postgres/types/types-by-hash.ts";

type Row = { hash: string; types: string[] | null; bytes: number; services: number };

const row = (hash: string, bytes = 100): Row => ({ hash, types: [`type of ${hash}`], bytes, services: 1 });

/** What a database would answer that has these rows: without the types that are known. @returns what it was told to be known, too */
async function read(types: TypesByHash<string>, ...rows: Row[]) {
  let said: string[] = [];
  const answer = await types.read(async (known) => {
    said = known;
    return rows.map((one) => (known.includes(one.hash) ? { ...one, types: null } : one));
  });
  return { said, types: answer.flatMap((one) => one.types) };
}

test("what was read is not sent again, of whatever pool, and is the very same: it was compiled before", async () => {
  const types = new TypesByHash<string>();
  expect(await read(types, row("1"), row("2"))).toEqual({ said: [], types: ["type of 1", "type of 2"] });
  expect(await read(types, row("1"), row("3"))).toEqual({ said: ["1", "2"], types: ["type of 1", "type of 3"] });
  expect(await read(types, row("3"))).toEqual({ said: ["2", "1", "3"], types: ["type of 3"] });
  expect(await read(types)).toEqual({ said: ["2", "1", "3"], types: [] });
});

const HALF = 1_048_576;

test("an answer that others have overtaken is completed by what was known when it was asked for", async () => {
  const types = new TypesByHash<string>();
  await read(types, row("1"));
  let answer = (_rows: Row[]): void => undefined;
  const slow = types.read(() => new Promise<Row[]>((resolve) => (answer = resolve)));
  await read(types, row("2", 2 * HALF)); // the first is forgotten for it
  answer([{ ...row("1"), types: null }]);
  expect((await slow).map((one) => one.types)).toEqual([["type of 1"]]);
});

test("what would be too much is forgotten, those first that were not read for the longest; of many pools the same counts once", async () => {
  const types = new TypesByHash<string>();
  await read(types, row("1", HALF));
  await read(types, row("2", HALF));
  for (let pool = 0; pool < 5; pool += 1) await read(types, row("1", HALF));
  expect((await read(types, row("3", HALF))).said).toEqual(["2", "1"]);
  expect((await read(types)).said).toEqual(["1", "3"]);
  await read(types, row("4", 3 * HALF));
  expect((await read(types)).said).toEqual([]);
});
