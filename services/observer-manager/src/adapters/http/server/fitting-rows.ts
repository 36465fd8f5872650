import type { z } from "zod";

/** A row of a list that cannot be shown. */
export interface LeftOut {
  /** Its id, or its name. */
  row: unknown;
  why: string;
}

interface Fitting<Body> {
  body: Body;
  leftOut: LeftOut[];
  /** Rows that were replaced by a stand-in. */
  replaced: LeftOut[];
}

type Fields = Record<string, unknown>;

/** The list of outcomes in the order given, which the caller matches by their places. */
const BY_PLACE = "results";

/**
 * The body of an answer in the shape of its schema. A row of a list that does not fit, as somebody has changed it in the database by
 * hand, is left out, or replaced by `standIn` if places count: otherwise one row would fail every list that it is in. Throws if
 * anything else is wrong.
 */
export function fitting<Body>(schema: z.ZodType<Body>, body: unknown, standIn: () => object): Fitting<Body> {
  const { data, error } = schema.safeParse(body);
  if (error === undefined) return { body: data as Body, leftOut: [], replaced: [] };
  const left: Fields = { ...(body as Fields) };
  const leftOut: LeftOut[] = [];
  const replaced: LeftOut[] = [];
  for (const [list, wrong] of wrongRows(error)) {
    const rows = left[list] as Fields | Fields[];
    const isByColumns = !Array.isArray(rows);
    if (isByColumns && !Object.values(rows).every(Array.isArray)) throw error;
    if (list === BY_PLACE && !isByColumns) {
      for (const [index, why] of wrong) replaced.push({ row: nameOf(rows[index]) ?? index, why });
      left[list] = rows.map((row, index) => (wrong.has(index) ? { ref: row["ref"], ...standIn() } : row));
      continue;
    }
    for (const [index, why] of wrong)
      leftOut.push({ row: isByColumns ? cell(rows, "id", index) : nameOf(rows[index]), why });
    left[list] = isByColumns
      ? Object.fromEntries(Object.entries(rows).map(([name, column]) => [name, without(column as unknown[], wrong)]))
      : without(rows, wrong);
  }
  return { body: schema.parse(left), leftOut, replaced };
}

/** By list: its wrong rows, and what is wrong with each. A list is an array of rows, or an object with an array of each column. */
function wrongRows(error: z.ZodError): Map<string, Map<number, string>> {
  const lists = new Map<string, Map<number, string>>();
  for (const { path, message } of error.issues) {
    const [list, ...inside] = path;
    const place = inside.findIndex((part) => typeof part === "number");
    if (typeof list !== "string" || place < 0 || place > 1) throw error;
    const wrong = lists.get(list) ?? new Map<number, string>();
    const where = inside.filter((_, index) => index !== place).join(".");
    lists.set(list, wrong.set(inside[place] as number, `${where}: ${message}`));
  }
  return lists;
}

const without = <Row>(rows: readonly Row[], wrong: ReadonlyMap<number, string>): Row[] =>
  rows.filter((_, index) => !wrong.has(index));

const cell = (columns: Fields, name: string, index: number): unknown => (columns[name] as unknown[] | undefined)?.[index];
const nameOf = (row: Fields | undefined): unknown => row?.id ?? row?.name ?? row?.ref;
