import type { ObserverView } from "@unacked/contracts";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { callHttp } from "../support/rest/rest-client.ts";
import { proves } from "../support/runs/counts.ts";
import { marked, marksOf, untilItMayChange } from "../support/system/changes.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const CLIENTS = 20;
const NAMES = 10;
const FOR_MS = proves("changes") ? 60_000 : 8_000;
/** `RACE_SEED=1234 npm test -- test/e2e/observers-raced` asks for the same again. */
const seed = Number(process.env.RACE_SEED ?? Date.now() % 1_000_000);

const ACTS = ["put", "put", "patch", "patch", "patch", "label", "pause", "resume", "resume", "restart", "delete"] as const;
type Act = (typeof ACTS)[number];

type Answered = ObserverView & { code?: string; outcome?: string };

/** What is answered where an act does not fit how things stand by then. */
const REFUSED = [
  "observer-not-found",
  "not-activated",
  "already-deleting",
  "already-deleted",
  "not-restartable",
  "paused",
  "not-pausable",
  "not-paused",
  "no-free-worker",
];

/** Of what is done here. */
const AT_REST: ObserverView["status"][] = ["Processing", "Paused", "Deleted"];

describe("twenty clients that act on the same names at once", () => {
  let system: System;
  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager();
    await Promise.all(["one", "two"].map((name) => system.startService(name, { workers: 2 * NAMES })));
    await untilItMayChange(system);
  }, 240_000);
  afterAll(() => system.close());

  /** By observer: the versions that changes of it were answered with. */
  const versions = new Map<string, number[]>();
  const ids = new Set<string>();
  const done = new Map<string, number>();
  let nextMark = 0;

  async function ask(act: Act, name: string): Promise<void> {
    const place = `/api/v1/observers/${name}`;
    nextMark += 1;
    const params = marked(system, `m${nextMark}`);
    const calls: Record<Act, [string, string, unknown]> = {
      put: ["PUT", place, { type: "stamp", params }],
      patch: ["PATCH", place, { params }],
      label: ["PATCH", place, { labels: { mark: `m${nextMark}` } }],
      pause: ["POST", `${place}/pause`, undefined],
      resume: ["POST", `${place}/resume`, undefined],
      restart: ["POST", `${place}/restart`, undefined],
      delete: ["DELETE", place, undefined],
    };
    const [method, path, json] = calls[act];
    const { status, body } = await callHttp(`${system.url}${path}`, method, {
      ...(json !== undefined && { json }),
      signal: AbortSignal.timeout(20_000),
    });
    const { id, code, outcome, specVersion } = body as Answered;
    const said = status < 300 ? "accepted" : `${status} ${code}`;
    done.set(`${act}: ${said}`, (done.get(`${act}: ${said}`) ?? 0) + 1);
    if (status >= 300) return expect(REFUSED, JSON.stringify(body)).toContain(code);
    ids.add(id);
    if (outcome === "changed") versions.set(id, [...(versions.get(id) ?? []), specVersion]);
  }

  it("leave the books as each act was answered, and what runs as the books say", { timeout: 400_000 }, async () => {
    const untilMs = performance.now() + FOR_MS;
    const wishes = (client: number) =>
      fc.sample(fc.tuple(fc.constantFrom(...ACTS), fc.integer({ min: 0, max: NAMES - 1 })), {
        seed: seed + client,
        numRuns: 20_000,
      });
    await Promise.all(
      Array.from({ length: CLIENTS }, async (_, client) => {
        for (const [act, name] of wishes(client)) {
          if (performance.now() > untilMs) return;
          await ask(act, `raced-${name}`);
        }
      }),
    );
    const all = await eventually(
      async () => {
        const known = await system.listObservers();
        const isCalm = ({ status, pending }: ObserverView) => pending === null && AT_REST.includes(status);
        const moving = known.filter((one) => !isCalm(one));
        expect(moving.map(({ name, status, pending }) => `${name} ${status} ${pending}`)).toEqual([]);
        return known;
      },
      { timeoutMs: 30_000, what: `that all is calm (RACE_SEED=${seed})` },
    );
    const byId = new Map(all.map((one) => [one.id, one]));
    // Each that ever answered is in the books, and no other; of a name one lives at most.
    expect([...ids].filter((id) => !byId.has(id))).toEqual([]);
    const names = all.filter(({ status }) => status !== "Deleted").map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    // No change was lost, and no two were given the same version.
    for (const [id, answered] of versions) {
      const expected = Array.from({ length: answered.length }, (_, i) => i + 2);
      expect([id, answered.toSorted((a, b) => a - b)]).toEqual([id, expected]);
      expect(byId.get(id)?.specVersion, id).toBe(answered.length + 1);
    }
    // What runs, runs by what is in the books; what is deleted or paused does not act.
    for (const one of all) {
      if (one.status === "Deleted") system.isOver(one.id);
      if (one.status !== "Processing") continue;
      expect([one.name, one.observedSpecVersion]).toEqual([one.name, one.specVersion]);
      const { mark } = one.params as { mark: string };
      await eventually(() => expect([one.name, marksOf(system, one.id).at(-1)]).toEqual([one.name, mark]));
    }
    await system.check({ timeoutMs: 60_000 });
    expect(system.reportOverlap(`${CLIENTS} clients`, all)).toBe(0);
    console.log(
      `RACE_SEED=${seed}: ${nextMark} acts on ${NAMES} names, ${all.length} observers, ${[...versions.values()].flat().length} changes; ${[
        ...done,
      ]
        .toSorted()
        .map(([what, count]) => `${what} ${count}`)
        .join(", ")}`,
    );
  });
});
