import { expect, test } from "vitest";
import { TypesOfPools } from "../../../services/observer-manager/src/adapters/postgres/types/types-of-pools.ts";

type Row = { hash: string; types: string[] | null; bytes: number; services: number };

const row = (hash: string, bytes = 100): Row => ({ hash, types: [`type of ${hash}`], bytes, services: 1 });

/** What a database would answer that has these rows: without the types that are known. @returns what it was told to be known, too */
async function read(types: TypesOfPools<string>, pool: string, ...rows: Row[]) {
  let said: string[] = [];
  const answer = await types.read(pool, async (known) => {
    said = known;
    return rows.map((one) => (known.includes(one.hash) ? { ...one, types: null } : one));
  });
  return { said, types: answer.flatMap((one) => one.types) };
}

test("what was read is not sent again, and is the very same: it was compiled before", async () => {
  const types = new TypesOfPools<string>();
  expect(await read(types, "a", row("1"), row("2"))).toEqual({ said: [], types: ["type of 1", "type of 2"] });
  expect(await read(types, "a", row("1"), row("3"))).toEqual({ said: ["1", "2"], types: ["type of 1", "type of 3"] });
  expect(await read(types, "a", row("3"))).toEqual({ said: ["1", "3"], types: ["type of 3"] });
  expect(await read(types, "b", row("3"))).toEqual({ said: [], types: ["type of 3"] });
});

test("a pool whose services are gone is forgotten", async () => {
  const types = new TypesOfPools<string>();
  await read(types, "a", row("1"));
  expect(await read(types, "a")).toEqual({ said: ["1"], types: [] });
  expect(await read(types, "a", row("1"))).toEqual({ said: [], types: ["type of 1"] });
});

test("an answer that another one has overtaken is completed by what was known when it was asked for", async () => {
  const types = new TypesOfPools<string>();
  await read(types, "a", row("1"));
  let answer = (_rows: Row[]): void => undefined;
  const slow = types.read("a", () => new Promise<Row[]>((resolve) => (answer = resolve)));
  await read(types, "a", row("2"));
  answer([{ ...row("1"), types: null }]);
  expect((await slow).map((one) => one.types)).toEqual([["type of 1"]]);
});

test("what would be too much is forgotten, those first that nobody has asked for the longest", async () => {
  const types = new TypesOfPools<string>();
  const half = 1_048_576;
  await read(types, "a", row("1", half));
  await read(types, "b", row("2", half));
  await read(types, "a", row("1", half));
  await read(types, "c", row("3", half));
  expect((await read(types, "b", row("2", half))).said).toEqual([]);
  expect((await read(types, "c", row("3", half))).said).toEqual(["3"]);
  await read(types, "d", row("4", 3 * half));
  expect((await read(types, "d", row("4", 3 * half))).said).toEqual([]);
});
