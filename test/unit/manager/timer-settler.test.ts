import type { TimerId } from "@unacked/contracts";
import { expect, test } from "vitest";
import { ClaimInFlight } from "../../../services/observer-manager/src/operations/timers/claim-in-flight.ts";
import { TimerSettler } from "../../../services/observer-manager/src/operations/timers/timer-settler.ts";
import type { FinishedClaim, FiringOutcome } from "../../../services/observer-manager/src/operations/timers/timer-store.ts";
import { eventually } from "../../support/eventually.ts";

const log = { info() {}, warn() {}, error() {}, debug() {} } as never;

/** A store that tells what is asked of it, and a settler that is told of `outcomes`, `ids` by `ids`. */
function settling(size: number) {
  const done: unknown[] = [];
  const broken = { times: 0 };
  const tell = async (...what: unknown[]) => {
    if (broken.times > 0) {
      broken.times -= 1;
      throw new Error("away");
    }
    done.push(what);
  };
  const store = {
    giveBack: (claimId: string, outcome: FiringOutcome, ids: readonly string[]) => tell("given back", claimId, outcome, ids),
    fired: (ids: readonly string[]) => tell("fired", ids),
    finish: (claims: readonly FinishedClaim[]) =>
      tell("finished", ...claims.map(({ claimId, fired }) => [claimId, [...fired]])),
  };
  const told = { settled: 0, finished: [] as string[] };
  const settler = new TimerSettler({
    store,
    settled: (timers) => (told.settled += timers),
    finished: ({ id }) => told.finished.push(id),
    log,
  });
  const claim = new ClaimInFlight("c", size, 0);
  settler.begin(claim);
  const add = (outcome: FiringOutcome, ...ids: string[]) => {
    for (const id of ids) settler.add(claim, id as TimerId, outcome);
  };
  return { done, broken, told, settler, claim, add };
}

const until = (what: () => void) => eventually(what, { timeoutMs: 5_000 });

test("Nothing is written of a claim until all of it is confirmed, and then once", async () => {
  const { done, told, add } = settling(3);
  add("fired", "1", "2");
  add("fired", "3");
  await until(() => expect(told).toEqual({ settled: 3, finished: ["c"] }));
  expect(done).toEqual([["finished", ["c", ["1", "2", "3"]]]]);
});

test("What is not fired is given back at once, and the claim is over only after that", async () => {
  const { done, told, claim, add } = settling(4);
  add("returned", "1", "2");
  await until(() => expect(told).toEqual({ settled: 2, finished: [] }));
  expect(done).toEqual([["given back", "c", "returned", ["1", "2"]]]);
  add("unknown", "3");
  add("fired", "4");
  await claim.known;
  await until(() => expect(told).toEqual({ settled: 4, finished: ["c"] }));
  expect(done.slice(1)).toEqual([
    ["given back", "c", "unknown", ["3"]],
    ["finished", ["c", ["4"]]],
  ]);
});

test("One that is not confirmed for long holds up no others: these are Fired by themselves, and so is it in the end", async () => {
  const { done, told, add } = settling(3);
  add("fired", "1");
  await until(() => expect(done).toEqual([["fired", ["1"]]]));
  add("fired", "2");
  await until(() => expect(done.slice(1)).toEqual([["fired", ["2"]]]));
  expect(told).toEqual({ settled: 2, finished: [] });
  add("fired", "3");
  await until(() => expect(told).toEqual({ settled: 3, finished: ["c"] }));
  expect(done.slice(2)).toEqual([
    ["fired", ["3"]],
    ["finished", ["c", []]],
  ]);
});

test("While the database is away it is tried again, and nothing is finished before what is given back of it is written", async () => {
  const { done, broken, told, add } = settling(2);
  broken.times = 1;
  add("refused", "1");
  add("fired", "2");
  await until(() => expect(told).toEqual({ settled: 2, finished: ["c"] }));
  expect([broken.times, done]).toEqual([
    0,
    [
      ["given back", "c", "refused", ["1"]],
      ["finished", ["c", ["2"]]],
    ],
  ]);
});

test("Closed, it tries once more what is left, and no longer", async () => {
  const { done, broken, told, settler, add } = settling(1);
  broken.times = 100;
  add("fired", "1");
  await settler.close();
  expect([done, told.finished, broken.times]).toEqual([[], [], 99]);
});
