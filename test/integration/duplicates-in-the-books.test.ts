import { newServiceId, type ObserverId, type ServiceEvent, type ServiceId } from "@unacked/contracts";
import { expect, test } from "vitest";
import { PostgresBooksStore } from "../../services/observer-manager/src/adapters/postgres/books/postgres-books-store.ts";
import { Ledger } from "../../services/observer-manager/src/operations/books/ledger.ts";
import { runOf } from "../support/messages/told-run.ts";
import { putObserver, useBooks } from "../support/servers/books.ts";

const NOBODY = { applied: () => undefined, sent: () => undefined, putAside: () => undefined };
const books = useBooks("observers, runs, services, commands, errors, run_figures");

test("a run that asks, and for which another's message is dropped, is admitted: the run that is kept is read with it", async () => {
  const ledger = new Ledger(new PostgresBooksStore(books.dataSource), "a manager", NOBODY);
  const observerId = (await putObserver(books.dataSource)) as ObserverId;
  const [a, b] = [newServiceId(), newServiceId()];
  const [kept, other] = [runOf(observerId), runOf(observerId)];
  const asks = (run: typeof kept): ServiceEvent => ({ kind: "RunRequested", ...run, deliveryCount: 0 });
  const say = (serviceId: ServiceId, seq: number, ...events: ServiceEvent[]) =>
    ledger.apply([
      {
        ...({ kind: "EventBatch", serviceName: serviceId, pool: "default", workerCount: 1, generation: 1 } as const),
        ...{ serviceId, seq, events },
      },
    ]);
  await say(b, 1, asks(other));
  await say(a, 1, asks(kept));
  const { messageId, revision, at } = other;
  const dropped = { kind: "DuplicateDropped", observerId, messageId, revision, at, keptRunId: kept.runId } as const;
  await say(a, 2, dropped);
  await say(a, 3, asks(kept));
  const [row] = await books.dataSource.query<Record<string, unknown>[]>("SELECT requested_run_id FROM observers");
  expect(row).toEqual({ requested_run_id: kept.runId });
});
