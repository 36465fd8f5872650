import { join } from "node:path";
import type { ObserverView } from "@unacked/contracts";
import { expect } from "vitest";
import type { Act } from "../acts/invariants.ts";
import { type Missed, missedBy, type Stay } from "../acts/neighbours.ts";
import { readStamps, type Stamp } from "../acts/stamps.ts";
import { eventually } from "../eventually.ts";
import type { Bystander } from "../processes/bystander.ts";
import { temporaryFolder } from "../servers/servers.ts";
import { freshSystem } from "../system/system.ts";
import type { Poison } from "./poisons.ts";

const NEIGHBOURS = 10;
const SERVICES = ["a", "b"];
const EVER_NS = 2n ** 62n;
/** Of the clock in log lines to that in acts. */
const MONOTONIC_LESS_WALL_NS = process.hrtime.bigint() - BigInt(Date.now()) * 1_000_000n;

/** What a poison writes down: test/fixtures/poison. */
type PoisonStamp = Omit<Stamp, "kind"> & { slot: number; kind: "start" | "deed" | "act" | "end" };

/** Two services with ten neighbours that stamp every 20 ms, and what a poison beside them does to them, by everybody's own acts. */
export async function besidePoison(bystander: Bystander, env: Record<string, string>) {
  const system = await freshSystem({ env: { SLOTS: "2", ...env } });
  await system.startManager();
  for (const name of SERVICES) await system.startService(name, { workers: 30, env });
  const ids = new Set<string>((await system.createMany("neighbour", NEIGHBOURS)).map(({ id }) => id));
  const folder = temporaryFolder("poison");
  const fileOf = (name: string) => join(folder, `${name}.jsonl`);
  const nameOf = new Map<string, string>();
  const stamps = (id: string) => readStamps(fileOf(nameOf.get(id) ?? "")) as unknown[] as PoisonStamp[];

  const lines = (event: string): string[] =>
    SERVICES.flatMap((name) => system.service(name).lines).filter((line) => line.includes(`"event":"${event}"`));
  const gone = () => lines("slot-gone").map((line) => JSON.parse(line) as { time: string; slot: number; why: string });
  const atNs = ({ time }: { time: string }) => BigInt(Date.parse(time)) * 1_000_000n + MONOTONIC_LESS_WALL_NS;
  const deaths = () => gone().map((line) => ({ slot: line.slot, atNs: atNs(line), why: line.why }));
  const acts = (): Act[] => system.acts().filter(({ observerId }) => ids.has(observerId));

  const staysOf = (id: string): Stay[] => {
    const all = stamps(id);
    return all
      .filter(({ kind }) => kind === "start")
      .map(({ slot, runId, monotonicNs: fromNs }) => {
        const end = all.find((stamp) => stamp.runId === runId && stamp.kind === "end")?.monotonicNs;
        const death = deaths().find((one) => one.slot === slot && one.atNs > fromNs)?.atNs;
        return { slot, fromNs, toNs: end ?? death ?? EVER_NS };
      });
  };

  return {
    system,
    lines,
    deaths,
    acts,
    async create(name: string, poison: Poison, retry: object): Promise<ObserverView> {
      const request = { name, retry, ...poison.request(fileOf(name)) };
      const { status, body } = await system.call<ObserverView>("POST", "/api/v1/observers", request);
      expect(status, JSON.stringify(body)).toBe(201);
      nameOf.set(body.id, name);
      return body;
    },
    async delete(id: string, query = ""): Promise<void> {
      const { status, body } = await system.call("DELETE", `/api/v1/observers/${id}${query}`);
      // One that ends itself all the time may be over before.
      expect([202, 409], JSON.stringify(body)).toContain(status);
    },
    /** It has begun to do what it does. */
    untilAtIt: (id: string, { fate }: Poison): Promise<void> =>
      eventually(() => expect(stamps(id).map(({ kind }) => kind)).toContain(fate === "bearable" ? "act" : "deed"), {
        what: "the poison's doing",
        timeoutMs: 30_000,
      }),
    lastActNs: (id: string): bigint => stamps(id).reduce((last, { monotonicNs: ns }) => (ns > last ? ns : last), 0n),
    untilAllAct: () =>
      eventually(
        () => {
          const acting = system.actingByPid();
          const [a, b] = SERVICES.map((name) => acting.get(system.service(name).pid) ?? new Set());
          expect(new Set([...(a ?? []), ...(b ?? [])])).toEqual(ids);
        },
        { timeoutMs: 20_000, what: "all neighbours acting" },
      ),
    /** No message is held but those of observers that are at work by the books: of what was deleted none runs any more. */
    untilDeletedAreGone: (timeoutMs: number) =>
      eventually(
        async () => {
          const atWork = (await system.listObservers()).filter(({ status }) => status === "Processing");
          expect(await system.management.queue("unacked.work.default")).toMatchObject({ ready: 0, unacked: atWork.length });
        },
        { timeoutMs },
      ),
    missed(): Missed {
      const stays = [...nameOf.keys()].flatMap(staysOf);
      return missedBy(acts(), { stays, deaths: deaths(), everyMs: 20, missedMs: bystander.missedMs });
    },
    /** Neighbours that acted in a slot of its after it had been found guilty: it has to be alone there. */
    companyAfterGuilt(id: string): string[] {
      const found = gone().find(({ why }) => why.startsWith(`${nameOf.get(id)} did it`));
      if (found === undefined) return [];
      const later = staysOf(id).filter(({ fromNs }) => fromNs > atNs(found));
      const isIn = ({ slot, monotonicNs: ns }: Act) =>
        later.some((stay) => stay.slot === slot && stay.fromNs <= ns && ns <= stay.toNs);
      return acts()
        .filter(isIn)
        .map(({ observerId }) => observerId);
    },
    async expectServicesUnharmed(): Promise<void> {
      expect(SERVICES.map((name) => system.service(name).exit())).toEqual([null, null]);
      expect(lines("lease-lost")).toEqual([]);
      const services = await system.listServices();
      expect(services.map(({ name, generation }) => ({ name, generation }))).toEqual(
        expect.arrayContaining(SERVICES.map((name) => ({ name, generation: 1 }))),
      );
      for (const { attempts, lastError } of await system.observers([...ids]))
        expect({ attempts, lastError }).toEqual({ attempts: 1, lastError: null });
    },
  };
}

export type BesidePoison = Awaited<ReturnType<typeof besidePoison>>;
