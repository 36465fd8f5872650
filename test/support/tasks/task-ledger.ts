import type { DataSource } from "typeorm";
import { PostgresRefusedParamsStore } from "../../../services/observer-manager/src/adapters/postgres/tasks/ledger/refused-params-store.ts";
import { PostgresTaskLedgerStore } from "../../../services/observer-manager/src/adapters/postgres/tasks/ledger/task-ledger-store.ts";
import { RefusedParams } from "../../../services/observer-manager/src/operations/tasks/ledger/refused-params.ts";
import { TaskLedger } from "../../../services/observer-manager/src/operations/tasks/ledger/task-ledger.ts";

type Parts = ConstructorParameters<typeof TaskLedger>[0];

/** As a manager of its own has it, whose handlers create nothing. @param told what a test listens to */
export const taskLedgerOn = (dataSource: DataSource, told: Partial<Parts> = {}): TaskLedger =>
  new TaskLedger({
    store: new PostgresTaskLedgerStore(dataSource),
    refused: new RefusedParams(new PostgresRefusedParamsStore(dataSource), (text) => text),
    creations: { of: async () => new Map() },
    tally: { ended: () => undefined, leasesOver: () => undefined },
    unwanted: () => undefined,
    committed: () => undefined,
    behind: () => undefined,
    ...told,
  });
