import { randomUUID } from "node:crypto";
import {
  type DeathCertificate,
  decodeBody,
  decodeList,
  ErrorReport,
  type EventBatch,
  type ServiceId,
  StateMessage,
} from "@unacked/contracts";
import { EntityManager } from "typeorm";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { PostgresBooksStore } from "../../services/observer-manager/src/adapters/postgres/books/postgres-books-store.ts";
import { recordErrors } from "../../services/observer-manager/src/adapters/postgres/errors/error-rows.ts";
import type { ReceivedMessage } from "../../services/observer-manager/src/domain/books/received-message.ts";
import { Ledger } from "../../services/observer-manager/src/operations/books/ledger.ts";
import { keepPlaces } from "../../services/observer-manager/src/operations/observers/kept-places.ts";
import { readLostObserver } from "../../services/observer-manager/src/operations/observers/lost-observers.ts";
import type { Tally } from "../../services/observer-manager/src/operations/tally.ts";
import { type GoldenMessage, goldenMessages, presentSchemas, presentVersion } from "../support/messages/golden-messages.ts";
import { runOf } from "../support/messages/told-run.ts";
import { putObserver, useBooks } from "../support/servers/books.ts";

const BEYOND_INT4 = 3_000_000_000;
const NO_TALLY: Tally = { applied: () => undefined, sent: () => undefined, putAside: () => undefined };

const books = useBooks("observers, runs, services, commands, errors");
let store: PostgresBooksStore;
let ledger: Ledger;
beforeAll(async () => {
  store = new PostgresBooksStore(books.dataSource);
  ledger = new Ledger(store, "a manager", NO_TALLY);
});

const batchOf = (events: EventBatch["events"], more: Partial<EventBatch> = {}): EventBatch => ({
  kind: "EventBatch",
  serviceId: randomUUID() as ServiceId,
  serviceName: "s",
  pool: "default",
  workerCount: 1,
  generation: 1,
  seq: 1,
  events,
  ...more,
});
const startOf = (run: ReturnType<typeof runOf>) => ({ kind: "RunStarted" as const, ...run, attempt: 1 });
const statusOf = async (id: string) =>
  (await books.dataSource.query<{ status: string }[]>("SELECT status FROM observers WHERE id = $1", [id]))[0]?.status;
const refused = () =>
  books.dataSource.query<{ detail: string; body: string }[]>(
    "SELECT detail, body FROM errors WHERE reason = 'refused-by-database'",
  );

describe("what the database refuses although it was decoded", () => {
  test.each([
    ["a batch's header", batchOf([], { generation: BEYOND_INT4 })],
    [
      "a death certificate",
      { kind: "DeathCertificate", serviceId: randomUUID() as ServiceId, generation: BEYOND_INT4 } as DeathCertificate,
    ],
  ])("is split off and put to the errors, whole: %s", async (_, poison) => {
    // A certificate reaches the commands only of a service that is known.
    await ledger.apply([batchOf([], { serviceId: poison.serviceId, seq: 1 })]);
    const id = await putObserver(books.dataSource);
    const message = poison.kind === "EventBatch" ? { ...poison, seq: 2 } : poison;
    await ledger.apply([message, batchOf([startOf(runOf(id))])]);
    expect(await statusOf(id)).toBe("Processing");
    const entries = await refused();
    expect(entries.map(({ body }) => JSON.parse(body) as object)).toMatchObject([{ generation: BEYOND_INT4 }]);
  });

  test("costs its neighbours nothing that is known: a run on a dead connection ends, and is not told to stop", async () => {
    const id = await putObserver(books.dataSource);
    const [dead, successor] = [runOf(id), { ...runOf(id) }];
    successor.messageId = dead.messageId;
    const onDead = batchOf([startOf(dead)]);
    const refusable = { ...startOf(runOf(await putObserver(books.dataSource))), attempt: BEYOND_INT4 };
    await ledger.apply([onDead]);
    await ledger.apply(
      [batchOf([refusable]), batchOf([startOf(successor)])],
      [],
      ({ serviceId }) => serviceId === onDead.serviceId,
    );
    const runs = await books.dataSource.query("SELECT state, end_reason FROM runs WHERE id = $1", [dead.runId]);
    expect(runs).toEqual([{ state: "Ended", end_reason: "service-gone" }]);
    expect(await books.dataSource.query("SELECT kind FROM commands WHERE kind = 'stop-run'")).toEqual([]);
  });

  test("leaves no savepoint open, of events that are refused and of those that are not", async () => {
    const asked = vi.spyOn(EntityManager.prototype, "query");
    try {
      const [good, bad] = [await putObserver(books.dataSource), await putObserver(books.dataSource)];
      const beyond = { ...startOf(runOf(bad)), attempt: BEYOND_INT4 };
      await ledger.apply([batchOf([startOf(runOf(good)), beyond, startOf(runOf(good))])]);
      const savepoints = asked.mock.calls.map(([sql]) => sql).filter((sql) => sql.includes("SAVEPOINT"));
      expect(savepoints.filter((sql) => sql.startsWith("SAVEPOINT"))).toHaveLength(3);
      expect(savepoints.filter((sql) => sql.startsWith("RELEASE"))).toHaveLength(3);
      expect(await refused()).toHaveLength(1);
    } finally {
      asked.mockRestore();
    }
  });
});

test("As many failed attempts as a number can tell hold nobody up, and what is counted next is no error", async () => {
  const [failing, neighbour, later] = await Promise.all([1, 2, 3].map(() => putObserver(books.dataSource)));
  const run = runOf(failing as string);
  const retrying = { ...run, attempt: 2_147_483_647, error: { name: "E", message: "m" }, delayMs: 0 };
  const batch = batchOf([startOf(run)]);
  await ledger.apply([batch]);
  const beganMs = performance.now();
  const events = [{ kind: "RunRetrying" as const, ...retrying }, startOf(runOf(neighbour as string))];
  await ledger.apply([{ ...batch, seq: 2, events }]);
  expect(performance.now() - beganMs).toBeLessThan(1_000);
  await ledger.apply([{ ...batch, seq: 3, events: [startOf(runOf(later as string))] }]);
  expect(await Promise.all([failing, neighbour, later].map((id) => statusOf(id as string)))).toEqual([
    "Retrying",
    "Processing",
    "Processing",
  ]);
  expect(await refused()).toEqual([]);
});

/** Whatever a field of that type may hold by JSON, and a column may not. */
const NASTY: Record<string, unknown[]> = {
  number: [2 ** 31, 2 ** 53 - 1, 8.64e15, 1e300, -1, 0.5],
  string: ["a\0b", "\ud800", "x".repeat(20_000), "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z"],
};

type Path = (string | number)[];

function leavesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return (typeof value) in NASTY ? [path] : [];
  return Object.entries(value).flatMap(([key, child]) => leavesOf(child, [...path, key]));
}

function withValue(body: unknown, path: Path, value: unknown): unknown {
  const copy = structuredClone(body);
  const last = path.at(-1) as string;
  const holder = path
    .slice(0, -1)
    .reduce<Record<string, unknown>>((at, key) => at[key] as Record<string, unknown>, copy as Record<string, unknown>);
  holder[last] = value;
  return copy;
}

/** Every field of a golden message, each with every nasty value, each time with ids of its own. */
function poisoned({ body }: GoldenMessage): string[] {
  return leavesOf(body).flatMap((path) => {
    const is = path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], body);
    return (NASTY[typeof is] ?? []).map((value) => withFreshIds(JSON.stringify(withValue(body, path, value))));
  });
}

function withFreshIds(text: string): string {
  const ids = new Map<string, string>();
  return text.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
    const fresh = ids.get(id) ?? randomUUID();
    ids.set(id, fresh);
    return fresh;
  });
}

const golden = (decoder: string) => goldenMessages(presentVersion).filter((message) => message.decoder === decoder);

describe("every field of every message that reaches the database", () => {
  test("is in a golden message, so that it is tried here", () => {
    for (const decoder of ["StateMessage", "ErrorReport", "StartObserver", "ReportedStart"] as const) {
      const kept = golden(decoder)
        .map(({ body }) => JSON.stringify(body))
        .join();
      const missing = propertiesOf(presentSchemas()[decoder]).filter((name) => !kept.includes(`"${name}":`));
      expect(missing, decoder).toEqual([]);
    }
  });

  test.each(golden("StateMessage").map((message) => [message.file, message] as const))(
    "is bounded by its column, or has what the column cannot hold replaced: %s",
    async (_, message) => {
      const messages: ReceivedMessage[] = [];
      for (const text of poisoned(message)) {
        const decoded = decodeList(StateMessage, "events", Buffer.from(text));
        if (!decoded.ok) continue;
        const { value, leftOut } = decoded;
        if (value.kind === "StateMarker") continue; // it has a uuid, and goes into no row
        messages.push(value.kind === "EventBatch" ? { ...value, leftOut } : value);
        for (const id of observersIn(value)) await putObserver(books.dataSource, { id, name: id });
      }
      if (message.kinds.includes("EventBatch")) expect(messages.length).toBeGreaterThan(0);
      for (let i = 0; i < messages.length; i += 50) await ledger.apply(messages.slice(i, i + 50));
      expect(await refused()).toEqual([]);
    },
  );

  test("is likewise in reports of errors, and in starts that are recorded again", async () => {
    let recorded = 0;
    for (const text of golden("ErrorReport").flatMap(poisoned)) {
      const decoded = decodeBody(ErrorReport, Buffer.from(text));
      if (!decoded.ok) continue;
      await recordErrors(books.dataSource, [{ ...decoded.value, messageId: null }]);
      recorded += 1;
    }
    for (const text of [...golden("StartObserver"), ...golden("ReportedStart")].flatMap(poisoned)) {
      const lost = readLostObserver(text);
      if (!lost.ok) continue;
      await store.inTransaction(async (tx) => {
        await tx.insertObservers([{ ...lost.value.observer, name: randomUUID().replaceAll("-", ".") }]);
        await keepPlaces(tx, [lost.value.start]);
      });
      recorded += 1;
    }
    expect(recorded).toBeGreaterThan(20);
  });
});

function observersIn(message: StateMessage): Set<string> {
  const text = JSON.stringify(message);
  return new Set([...text.matchAll(/"observerId":"([^"]+)"/g)].map(([, id = ""]) => id));
}

function propertiesOf(node: unknown): string[] {
  if (typeof node !== "object" || node === null) return [];
  const own = Object.keys((node as { properties?: object }).properties ?? {});
  return [...new Set([...own, ...Object.values(node).flatMap(propertiesOf)])];
}
