import fc from "fast-check";
import { expect, it } from "vitest";
import { bothEnds, type PageRead, type PlaceAsked } from "../../../services/status-page/src/wire/both-ends.ts";

interface Row {
  id: string;
}

/** A list as a manager gives it, the newest first: cursors are the ids of rows, and places never change. */
class Listed {
  readonly asked: PlaceAsked[] = [];
  #ids: number[];

  constructor(count: number) {
    this.#ids = Array.from({ length: count }, (_, place) => count - place);
  }

  change(keep: (id: number) => boolean, newer: number): void {
    const newest = this.#ids[0] ?? 0;
    this.#ids = [...Array.from({ length: newer }, (_, place) => newest + newer - place), ...this.#ids.filter(keep)];
  }

  read(place: PlaceAsked): PageRead<Row> {
    this.asked.push(place);
    const { sort, limit, cursor } = place;
    const from = (id: number) => cursor === undefined || (sort === "newest" ? id < Number(cursor) : id > Number(cursor));
    const left = (sort === "newest" ? this.#ids : this.#ids.toReversed()).filter(from);
    const rows = left.slice(0, limit).map((id) => ({ id: String(id) }));
    return { rows, total: this.#ids.length, nextCursor: left.length > limit ? (rows.at(-1)?.id ?? null) : null };
  }
}

async function idsOf(pages: AsyncGenerator<PageRead<Row>, void>): Promise<number[]> {
  const ids: number[] = [];
  for await (const { rows } of pages) ids.push(...rows.map(({ id }) => Number(id)));
  return ids;
}

const sorted = (ids: Iterable<number>) => [...ids].sort((a, b) => a - b);

it("each comes once, the first page first, whatever comes and goes meanwhile, and in whichever order pages come", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(60),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 9 }),
      fc.infiniteStream(fc.nat(2)),
      fc.infiniteStream(fc.nat(3)),
      fc.boolean(),
      async (count, first, others, turns, newer, hasOldest) => {
        const list = new Listed(count);
        const stays = (id: number) => id % 3 !== 0;
        let asked = 0;
        const ask = async (place: PlaceAsked) => {
          if (place.sort === "oldest" && !hasOldest) return undefined;
          const page = list.read(place);
          asked += 1;
          if (asked < 4) list.change((id) => stays(id) || id % (asked + 3) !== 0, newer.next().value ?? 0);
          for (let turn = turns.next().value ?? 0; turn > 0; turn -= 1) await new Promise(setImmediate);
          return page;
        };
        const ids = await idsOf(bothEnds(ask, { first, others }));
        expect(new Set(ids).size).toBe(ids.length);
        const stayed = Array.from({ length: count }, (_, place) => place + 1).filter(stays);
        expect(ids).toEqual(expect.arrayContaining(stayed));
        expect(ids.slice(0, 1)).toEqual(count === 0 ? [] : [count]);
      },
    ),
    { numRuns: 300 },
  );
});

it("no row is asked for twice but one, by which the ends are known to meet", async () => {
  const list = new Listed(100);
  const ids = await idsOf(bothEnds(async (place) => list.read(place), { first: 5, others: 10 }));
  expect(sorted(ids)).toEqual(Array.from({ length: 100 }, (_, place) => place + 1));
  expect(list.asked.reduce((rows, { limit }) => rows + limit, 0)).toBe(101);
  expect(new Set(list.asked.map(({ sort }) => sort)).size).toBe(2);
});

it("one page is under way while another is worked on", async () => {
  const list = new Listed(100);
  let [asked, worked] = [0, 0];
  const ask = async (place: PlaceAsked) => {
    asked += 1;
    return list.read(place);
  };
  for await (const { rows } of bothEnds(ask, { first: 5, others: 10 })) {
    worked += 1;
    expect(rows.length).toBeGreaterThan(0);
    if (worked > 1 && worked < 9) expect(asked).toBeGreaterThan(worked);
  }
});

it("a short list is one call", async () => {
  const list = new Listed(5);
  expect(await idsOf(bothEnds(async (place) => list.read(place), { first: 5, others: 10 }))).toEqual([5, 4, 3, 2, 1]);
  expect(list.asked).toHaveLength(1);
});

it("what cannot be read is told, after what was", async () => {
  const list = new Listed(100);
  const ask = async (place: PlaceAsked) => {
    if (place.sort === "oldest") throw new Error("the oldest cannot be read");
    return list.read(place);
  };
  await expect(idsOf(bothEnds(ask, { first: 5, others: 10 }))).rejects.toThrow("the oldest cannot be read");
});
