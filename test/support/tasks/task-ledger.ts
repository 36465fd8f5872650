import type { DataSource } from "typeorm";
import { PostgresTaskLedgerStore } from "../../../services/observer-manager/src/adapters/postgres/tasks/ledger/task-ledger-store.ts";
import { TaskLedger } from "../../../services/observer-manager/src/operations/tasks/ledger/task-ledger.ts";

type Parts = ConstructorParameters<typeof TaskLedger>[0];

/** As a manager of its own has it, whose handlers create nothing. @param told what a test listens to */
export const taskLedgerOn = (dataSource: DataSource, told: Partial<Parts> = {}): TaskLedger =>
  new TaskLedger({
    store: new PostgresTaskLedgerStore(dataSource),
    creations: { of: async () => new Map() },
    tally: { ended: () => undefined, leasesOver: () => undefined },
    unwanted: () => undefined,
    committed: () => undefined,
    behind: () => undefined,
    ...told,
  });
