import fc from "fast-check";
import { expect, test } from "vitest";
import { arrayLiteral } from "../../services/observer-manager/src/adapters/postgres/connection/fail-fast-client.ts";
import { useBooks } from "../support/servers/books.ts";

const books = useBooks();

const readBack = async (values: unknown[], type: string): Promise<unknown> => {
  const [row] = await books.dataSource.query<{ values: unknown }[]>(`SELECT $1::${type}[] AS values`, [
    arrayLiteral(values),
  ]);
  return row?.values;
};

/** What PostgreSQL takes in a text at all. */
const text = fc.string({ unit: "binary" }).map((any) => any.replaceAll("\0", ""));

test("PostgreSQL reads back any texts as they were, whatever means something in an array", async () => {
  const awkward = [
    "",
    "NULL",
    "null",
    "{a,b}",
    'a"b',
    "\\",
    '\\"',
    " a ",
    "a,b",
    "\n\t",
    "ü 🐇",
    '{"a": ["\\u00e9"]}',
    '"\n',
    '"\u007f\u2028',
    '"🐇',
  ];
  expect(await readBack([...awkward, null], "text")).toEqual([...awkward, null]);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(text)), async (values) => {
      expect(await readBack(values, "text")).toEqual(values);
    }),
  );
});

test("numbers, booleans and nothing at all, too; what else there is goes to pg", async () => {
  expect(await readBack([1, -2.5, 1e21, null], "float8")).toEqual([1, -2.5, 1e21, null]);
  expect(await readBack([true, false, null], "boolean")).toEqual([true, false, null]);
  expect(await readBack([], "int")).toEqual([]);
  for (const other of [new Date(), Buffer.from("a"), ["a"], {}, undefined]) expect(arrayLiteral([other])).toBeUndefined();
});
