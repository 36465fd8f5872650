import type { ObserverId, TimelineEntry } from "@unacked/contracts";
import { expect, test } from "vitest";
import { moveSome } from "../../services/observer-manager/src/adapters/postgres/balance/move-writes.ts";
import { PostgresBalanceStore } from "../../services/observer-manager/src/adapters/postgres/balance/postgres-balance-store.ts";
import { newAction } from "../../services/observer-manager/src/operations/access/audit.ts";
import { useHttpManager } from "../support/rest/http-manager.ts";
import { bearer, callersOf, roleTokens } from "../support/rest/tokens.ts";
import { keptLog, putRunning, putService, SOMEBODY } from "../support/servers/books.ts";

/* Nobody has to guess who made a run end: the timeline says it, to those who may know. */

const tokens = roleTokens();
const { books, manager } = useHttpManager({
  emptied: "observers, runs, services, commands, moves, audit",
  access: () => ({ callers: callersOf(tokens.list, keptLog()) }),
});

type Role = keyof typeof tokens.of;

async function call(role: Role, method: string, path: string, json?: object) {
  const answer = await manager.call(method, `/api/v1${path}`, { ...(json && { json }), headers: bearer(tokens.of[role]) });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

const timeline = async (id: string, role: Role = "operator"): Promise<TimelineEntry[]> =>
  (await call(role, "GET", `/observers/${id}/timeline`)).items;

const endRuns = (reason: string, more = "") =>
  books.dataSource.query(`UPDATE runs SET state = 'Ended', ended_at = clock_timestamp(), end_reason = $1 ${more}`, [reason]);

/** Who made the run end, and why. */
async function ended(id: string, role?: Role): Promise<{ by?: string | null; text: string | null }> {
  const { by, text } = (await timeline(id, role)).find(({ kind }) => kind === "ended") ?? expect.fail("no end");
  return { ...(by !== undefined && { by }), text };
}

const putOn = async () => {
  const types = [{ type: "ticker", description: "", paramsSchema: {} }];
  const serviceId = await putService(books.dataSource, { name: "alpha", types });
  return { serviceId, id: await putRunning(books.dataSource, { name: "gold", current_service_id: serviceId }) };
};

test("who restarted it, and who stopped it; of those that a call for many does not name it is not known", async () => {
  const { id } = await putOn();
  await call("operator", "POST", `/observers/${id}/restart`);
  await endRuns("restarted");
  expect(await ended(id)).toEqual({ by: "an-operator", text: null });
  const others = await Promise.all(Array.from({ length: 11 }, (_, i) => putRunning(books.dataSource, { name: `n-${i}` })));
  await call("admin", "POST", "/observers/stop", { names: Array.from({ length: 11 }, (_, i) => `n-${i}`) });
  await endRuns("stopped", "WHERE end_reason IS NULL");
  expect(await ended(String(others[0]))).toEqual({ by: "an-admin", text: null });
  expect(await ended(String(others[10]))).toEqual({ by: null, text: null });
});

test("an interruption is nobody's request", async () => {
  const { id } = await putOn();
  await call("operator", "POST", `/observers/${id}/restart`);
  await endRuns("restarted", ", interruption = 'its slot ended'");
  expect(await ended(id)).toEqual({ by: null, text: "its slot ended" });
});

test("who changed what it took as it ran, rejected, or began again for", async () => {
  const { id } = await putOn();
  await call("operator", "PATCH", `/observers/${id}`, { params: { everyMs: 5 } });
  const step = (kind: string, text: string) => ({ kind, atMs: Date.now(), text });
  const steps = [step("updated", "runs by version 2"), step("rejected", "version 3: no"), step("rejected", "version 2: no")];
  await books.dataSource.query("UPDATE runs SET story = $1", [JSON.stringify(steps)]);
  const told = (await timeline(id)).filter(({ kind }) => kind === "updated" || kind === "rejected");
  expect(told.map(({ by, text }) => [text, by]).toSorted()).toEqual([
    ["runs by version 2", "an-operator"],
    ["version 2: no", "an-operator"],
    ["version 3: no", null],
  ]);
  await books.dataSource.query("UPDATE runs SET story = $1", [
    JSON.stringify([step("updated", "begins again with version 2")]),
  ]);
  await endRuns("restarted");
  expect(await ended(id)).toEqual({ by: "an-operator", text: null });
});

test("who drained its service; or that it was told to end, by which signal", async () => {
  const { id, serviceId } = await putOn();
  await endRuns("draining");
  expect(await ended(id)).toEqual({ by: null, text: "its service was told to end" });
  await books.dataSource.query("UPDATE services SET state = 'Stopped', end_reason = 'SIGTERM', ended_at = now()");
  expect(await ended(id)).toEqual({ by: null, text: "its service ended: SIGTERM" });
  await books.dataSource.query("UPDATE services SET state = 'Alive', end_reason = NULL, ended_at = NULL");
  await call("admin", "POST", `/services/${serviceId}/drain`);
  await endRuns("draining");
  expect(await ended(id)).toEqual({ by: "an-admin", text: "its service was drained" });
  expect(await ended(id, "viewer")).toEqual({ text: "its service was drained" });
});

test("who moved it, or that a rebalance did, and why", async () => {
  const { id, serviceId } = await putOn();
  const store = new PostgresBalanceStore(books.dataSource);
  await store.moveOne({ kind: "id", id: id as ObserverId }, newAction("observer.move", SOMEBODY), () => undefined);
  await endRuns("moved");
  expect(await ended(id)).toEqual({ by: SOMEBODY.name, text: "somebody asked for it" });
  const other = await putRunning(books.dataSource, { name: "silver", type: "other", current_service_id: serviceId });
  const asked = { by: "auto", why: "rebalance of pool default: 9 and 1" };
  await books.dataSource.transaction((tx) => moveSome(tx, { serviceId, type: "other", count: 1 }, asked));
  await endRuns("moved");
  expect(await ended(other)).toEqual({ by: "the rebalancer", text: asked.why });
});

test("of one whose type is gone what became of it, and nobody", async () => {
  const { id } = await putOn();
  await endRuns("type-gone");
  expect(await ended(id)).toEqual({ by: null, text: "the folder of its service has its type no more" });
});
