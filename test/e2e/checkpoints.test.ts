import { existsSync, readFileSync } from "node:fs";
import type { CheckpointView, ObserverView } from "@unacked/contracts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshDatabase, freshVhost, queryRows, runStatement } from "../support/servers/servers.ts";
import { System } from "../support/system/system.ts";

const LONG_MS = 90_000;

/** What a counter has written beside its acts. */
interface Save {
  observerId: string;
  runId: string;
  fencingToken: number;
  n: number;
  kind: "given" | "resolved" | "refused";
  monotonicNs: string;
}

describe("observers that save where they have got to", () => {
  let system: System;
  let databaseUrl: string;

  beforeAll(async () => {
    const vhost = await freshVhost();
    ({ databaseUrl } = await freshDatabase());
    const env = { CHECKPOINT_EVERY_MS: "20" };
    system = new System({ amqpUrl: vhost.amqpUrl, databaseUrl, management: vhost.management, env });
    await system.startManager();
  }, 240_000);
  afterAll(() => system.close());
  afterEach(async () => {
    const left = [...system.services.values()].filter((service) => service.exit() === null);
    await Promise.all(left.map((service) => service.kill("SIGKILL")));
  });

  const serve = (pool: string, name: string, workers = 10, env = {}) =>
    system.startService(`${pool}-${name}`, {
      workers,
      env: { POOL: pool, OBSERVERS_DIR: compiled("admitted"), ...env },
    });
  /** The readers of the state queue are looked at a moment after a manager is ready. */
  const create = (name: string, pool: string, params: object = {}) =>
    eventually(
      async () => {
        const answer = await system.create(name, params, { type: "counter", pool, whenFull: "queue" });
        expect(answer.body.code).not.toBe("admission-not-known");
        return answer;
      },
      { timeoutMs: 40_000, what: "that a type with a checkpoint is taken" },
    );
  const until = (refs: string[], status: string) => system.untilStatus(refs, status, LONG_MS);
  const saves = (): Save[] => {
    const file = `${system.actsFile}.saves`;
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, "utf8").split("\n");
    return lines.flatMap((line) => (line.endsWith("}") ? [JSON.parse(line) as Save] : []));
  };
  const savesOf = ({ id }: Pick<ObserverView, "id">, kind: Save["kind"]) =>
    saves().filter((save) => save.observerId === id && save.kind === kind);
  const stored = async ({ id }: Pick<ObserverView, "id">) =>
    (
      await queryRows<{ number: string; value: string | null; previous_value: string | null }>(
        databaseUrl,
        `SELECT number, value, previous_value FROM checkpoints WHERE observer_id = '${id}' AND is_started ORDER BY fencing_token DESC`,
      )
    ).map(({ value, previous_value }) => [value, previous_value].map((one) => (one === null ? null : JSON.parse(one).n)));

  /** Of each start: what had been saved, under a held lease, by any run of the observer before. */
  function startsBelow(ids: readonly string[]): { starts: number; below: string[] } {
    const byObserver = group(saves().filter(({ observerId }) => ids.includes(observerId)));
    const below: string[] = [];
    let starts = 0;
    for (const all of byObserver.values()) {
      let reached = 0;
      for (const { kind, n, runId, observerId } of all.toSorted((a, b) =>
        BigInt(a.monotonicNs) < BigInt(b.monotonicNs) ? -1 : 1,
      )) {
        if (kind === "resolved") reached = Math.max(reached, n);
        if (kind !== "given") continue;
        starts += 1;
        if (n < reached) below.push(`${observerId} ${runId}: ${n} after ${reached}`);
      }
    }
    return { starts, below };
  }
  const group = (all: Save[]): Map<string, Save[]> => {
    const groups = new Map<string, Save[]>();
    for (const save of all) groups.set(save.observerId, [...(groups.get(save.observerId) ?? []), save]);
    return groups;
  };

  it.runIf(isTurnOf(0))(
    "start with what the run before has saved: on another service, in another slot, after a retry and a restart",
    async () => {
      const pool = "moves";
      await serve(pool, "a");
      const one = (await create("mover", pool)).body;
      await until([one.id], "Processing");
      await eventually(() => expect(savesOf(one, "given").map(({ n }) => n)).toEqual([0]));
      const untilSaved = (times: number) =>
        eventually(() => expect(savesOf(one, "resolved").length).toBeGreaterThanOrEqual(times), { timeoutMs: LONG_MS });
      const untilGiven = (times: number) =>
        eventually(() => expect(savesOf(one, "given")).toHaveLength(times), { timeoutMs: LONG_MS });
      await untilSaved(3);
      const { slot } = system.acts().findLast(({ observerId }) => observerId === one.id) ?? {};
      process.kill(slot ?? expect.fail("nobody knows its slot"), "SIGKILL");
      await untilGiven(2);
      await untilSaved(6);
      await system.call("POST", `/api/v1/observers/${one.id}/restart`);
      await untilGiven(3);
      await untilSaved(9);
      await serve(pool, "b");
      await system.service("moves-a").kill("SIGKILL");
      await untilGiven(4);
      await untilSaved(12);
      await system.service("moves-b").kill("SIGTERM");
      await serve(pool, "c");
      await untilGiven(5);
      expect(startsBelow([one.id]).below).toEqual([]);
      expect(savesOf(one, "given").map(({ fencingToken }) => fencingToken)).toEqual(
        savesOf(one, "given")
          .map(({ fencingToken }) => fencingToken)
          .toSorted((a, b) => a - b),
      );
      await system.call("POST", `/api/v1/observers/${one.id}/pause`);
      await until([one.id], "Paused");
      const last = savesOf(one, "resolved").at(-1)?.n ?? 0;
      const [[newest, before] = []] = await stored(one);
      expect(newest).toBeGreaterThanOrEqual(last);
      // Of several that the books read at once the last is kept.
      expect(before).toBeLessThan(newest ?? 0);
      await system.call("POST", `/api/v1/observers/${one.id}/resume`);
      await untilGiven(6);
      expect(savesOf(one, "given").at(-1)?.n).toBe(newest);
      await system.check({ pool, timeoutMs: LONG_MS });
    },
  );

  it.runIf(isTurnOf(2))("can be seen, set and reset by people, while none runs", async () => {
    const pool = "people";
    await serve(pool, "a");
    const one = (await create("handled", pool, { everyMs: 50 })).body;
    await until([one.id], "Processing");
    const call = (method: string, json?: object) =>
      system.call<CheckpointView & { code?: string }>(method, `/api/v1/observers/${one.id}/checkpoint`, json);
    const pauseIt = async () => {
      await system.call("POST", `/api/v1/observers/${one.id}/pause`);
      await until([one.id], "Paused");
    };
    const given = async (times: number) => {
      await system.call("POST", `/api/v1/observers/${one.id}/resume`);
      await eventually(() => expect(savesOf(one, "given")).toHaveLength(times), { timeoutMs: LONG_MS });
      return savesOf(one, "given").at(-1)?.n;
    };
    const set = { value: { n: 1_000, pad: "" } };
    for (const [method, json] of [["PUT", set], ["DELETE"]] as const)
      expect((await call(method, json)).body.code).toBe("has-run");
    await eventually(async () => expect((await call("GET")).body.number).toBeGreaterThan(1), { timeoutMs: LONG_MS });
    await pauseIt();
    const { body: before } = await call("GET");
    expect(before).toMatchObject({ value: { pad: "" }, previous: { number: expect.any(Number) } });
    const wrong = await call("PUT", { value: { n: "many" } });
    expect([wrong.status, wrong.body.code]).toEqual([422, "invalid-body"]);
    expect((await call("PUT", set)).body).toMatchObject({
      number: before.number + 1,
      value: set.value,
      runId: null,
      previous: { value: before.value },
    });
    expect(await given(2)).toBe(1_000);
    await pauseIt();
    expect((await call("DELETE")).body).toMatchObject({ number: 0, value: null, previous: { value: expect.any(Object) } });
    expect(await given(3)).toBe(0);
    await eventually(async () => expect((await call("GET")).body.number).toBeGreaterThan(0), { timeoutMs: LONG_MS });
    await pauseIt();
    // As if a new version of the type took it no more.
    await runStatement(databaseUrl, `UPDATE checkpoints SET value = '{"m":1}' WHERE observer_id = '${one.id}'`);
    await system.call("POST", `/api/v1/observers/${one.id}/resume`);
    await until([one.id], "Failed");
    expect((await system.get(one.id)).lastError).toMatchObject({ name: "InvalidCheckpoint" });
  });

  it.runIf(isTurnOf(1))("say again what restored books lack, and what they have of before a reset", async () => {
    const pool = "restored";
    await serve(pool, "a");
    const one = (await create("keeper-of-it", pool, { everyMs: 600_000 })).body;
    const reset = (await create("reset-since", pool, { everyMs: 600_000 })).body;
    const same = (await create("reset-to-the-same-number", pool, { everyMs: 600_000 })).body;
    const untilStored = async () => {
      for (const each of [one, reset, same])
        await eventually(async () => expect((await stored(each))[0]?.[0]).toBe(1), { timeoutMs: LONG_MS });
    };
    await untilStored();
    await runStatement(databaseUrl, `DELETE FROM checkpoints WHERE observer_id = '${one.id}'`);
    // Of the run before, and of before a reset: numbers began anew since.
    await runStatement(
      databaseUrl,
      `UPDATE checkpoints SET run_id = gen_random_uuid(), fencing_token = fencing_token - 1, number = 9, value = '{"n":900}' WHERE observer_id = '${reset.id}'`,
    );
    await runStatement(
      databaseUrl,
      `UPDATE checkpoints SET run_id = gen_random_uuid(), fencing_token = fencing_token - 1, number = 1, value = '{"n":900}' WHERE observer_id = '${same.id}'`,
    );
    // An older dump knows less of what its service has said, and so asks for all that it runs.
    await runStatement(databaseUrl, "UPDATE services SET last_seq = last_seq - 1 WHERE name = 'restored-a'");
    await untilStored();
    await eventually(async () =>
      expect(await queryRows(databaseUrl, "SELECT id FROM commands WHERE kind = 'tell-checkpoint'")).toEqual([]),
    );
  });

  it.runIf(isTurnOf(1))("are given it again where restored books lack the observers themselves", async () => {
    const pool = "lost";
    await serve(pool, "a");
    const one = (await create("lost-one", pool, { everyMs: 600_000 })).body;
    await eventually(async () => expect((await stored(one))[0]?.[0]).toBe(1), { timeoutMs: LONG_MS });
    const { fencingToken } = await system.get(one.id);
    for (const [table, column] of Object.entries({ checkpoints: "observer_id", runs: "observer_id", observers: "id" }))
      await runStatement(databaseUrl, `DELETE FROM ${table} WHERE ${column} = '${one.id}'`);
    await runStatement(databaseUrl, "UPDATE services SET last_seq = last_seq - 1 WHERE name = 'lost-a'");
    await eventually(() => expect(savesOf(one, "given")).toHaveLength(2), { timeoutMs: LONG_MS });
    expect(savesOf(one, "given").at(-1)?.n).toBe(1);
    await until([one.id], "Processing");
    expect((await system.get(one.id)).fencingToken).toBeGreaterThan(fencingToken ?? 0);
  });

  it.runIf(isTurnOf(1))("do the same where handlers run in their service's own process", async () => {
    const pool = "unslotted";
    await serve(pool, "a", 10, { SLOTS: "0" });
    const one = (await create("local", pool)).body;
    await eventually(() => expect(savesOf(one, "resolved").length).toBeGreaterThan(3), { timeoutMs: LONG_MS });
    await system.call("POST", `/api/v1/observers/${one.id}/restart`);
    await eventually(() => expect(savesOf(one, "given")).toHaveLength(2), { timeoutMs: LONG_MS });
    expect(startsBelow([one.id]).below).toEqual([]);
    await system.check({ pool, timeoutMs: LONG_MS });
    await system.remove(one.id);
  });

  it.runIf(isTurnOf(2))("flush what they saved last before they end, and keep it when they are over", async () => {
    const pool = "ends";
    await serve(pool, "a", 10, { CHECKPOINT_EVERY_MS: "60000" });
    const one = (await create("ending", pool, { until: 30, flood: true, everyMs: 1 })).body;
    await until([one.id], "Completed");
    expect((await stored(one))[0]?.[0]).toBe(30);
    await system.call("POST", `/api/v1/observers/${one.id}/restart`);
    await eventually(() => expect(savesOf(one, "given").map(({ n }) => n)).toEqual([0, 30]), { timeoutMs: LONG_MS });
  });
});
