import type { ServiceView } from "@unacked/contracts";
import { expect, test } from "vitest";
import type { ReadEvent } from "../../../services/observer-manager/src/operations/changes/change-event.ts";
import type { ToldTo } from "../../../services/observer-manager/src/operations/changes/change-log.ts";
import { Gathered, HandedOn } from "../../../services/observer-manager/src/operations/changes/handed-on.ts";

const place = (): ToldTo => ({ database: "1", xid: 1n, ahead: { latest: 1n, running: [] } });

const eventsOf = (count: number): ReadEvent[] =>
  Array.from({ length: count }, () => ({
    event: { kind: "service", view: {} as ServiceView },
    at: { xid: 1n, id: "" },
  }));

/** @returns the places that it was at */
function handedOn(moves: { events: number; bytes?: number }[]) {
  const handed = new HandedOn();
  const places = [place()];
  handed.beginAt(places[0]);
  for (const { events, bytes = 0 } of moves) {
    const gathered = new Gathered();
    gathered.add({ events: eventsOf(events), bytes });
    const to = place();
    handed.moveTo(to, gathered);
    places.push(to);
  }
  return { handed, places, kept: places.map((at) => handed.since(at)?.map(({ events }) => events.length)) };
}

test("What was handed on is known since each place that it began at, and nothing since the last", () => {
  expect(handedOn([{ events: 2 }, { events: 0 }, { events: 1 }]).kept).toEqual([[2, 0, 1], [0, 1], [1], []]);
});

test("A place that looks the same is another one", () => {
  expect(handedOn([{ events: 1 }]).handed.since(place())).toBeUndefined();
});

test("The last 1,000 events are kept, and the last MiB of what is long", () => {
  expect(handedOn([{ events: 500 }, { events: 300 }, { events: 700 }]).kept).toEqual([undefined, [300, 700], [700], []]);
  const half = { events: 1, bytes: 524_288 };
  expect(handedOn([half, half, half]).kept).toEqual([undefined, [1, 1], [1], []]);
});

test("Moves without events are not kept without end", () => {
  const { kept } = handedOn(Array.from({ length: 1_002 }, () => ({ events: 0 })));
  expect(kept.slice(0, 3).map((moves) => moves?.length)).toEqual([undefined, undefined, 1_000]);
});

test("Nothing is known across a move that is too large to be kept, nor across a jump", () => {
  expect(handedOn([{ events: 1 }, { events: 1_001 }, { events: 1 }]).kept).toEqual([undefined, undefined, [1], []]);
  expect(handedOn([{ events: 1 }, { events: 1, bytes: 1_048_577 }]).kept).toEqual([undefined, undefined, []]);
  const { handed, places } = handedOn([{ events: 1 }]);
  handed.beginAt(place());
  expect(places.map((at) => handed.since(at))).toEqual([undefined, undefined]);
});
