import type { DataSource } from "typeorm";
import type { BalanceStore } from "../../operations/balance/balance-store.ts";
import type { BooksStore, ErrorBook } from "../../operations/books/books-store.ts";
import type { UnappliedStore } from "../../operations/books/late-events.ts";
import type { RetentionStore } from "../../operations/books/retention.ts";
import type { BulkWorkStore } from "../../operations/bulk-work/bulk-work-store.ts";
import type { ChangeLog } from "../../operations/changes/change-log.ts";
import type { CommandCount, CommandStore } from "../../operations/commands/command-store.ts";
import type { FeatureStore } from "../../operations/features/feature-gate.ts";
import type { FlowCounts, FlowFollowStore, FlowStore } from "../../operations/flows/flow-store.ts";
import type { LogPlaces } from "../../operations/logs/log-source.ts";
import type { ReconcilerStore } from "../../operations/observers/reconciler.ts";
import type { ScheduledStartStore } from "../../operations/observers/scheduled-starts.ts";
import type { PoolStore } from "../../operations/pools/queue-care.ts";
import type { RequestStore } from "../../operations/requests/request-store.ts";
import type { LevelStore } from "../../operations/schedules/level-store.ts";
import type { ScheduleCounts, ScheduleFiringStore, ScheduleStore } from "../../operations/schedules/schedule-store.ts";
import type { SilenceStore } from "../../operations/services/prober.ts";
import type { ServiceStore } from "../../operations/services/service-desk.ts";
import type { TaskTypeStore } from "../../operations/tasks/creations/task-type-store.ts";
import type { TaskBulkStore } from "../../operations/tasks/desk/task-bulk-store.ts";
import type { TaskFailureStore } from "../../operations/tasks/desk/task-failure-store.ts";
import type { TaskStore } from "../../operations/tasks/desk/task-store.ts";
import type { TaskLimitStore } from "../../operations/tasks/desk/task-type-desk.ts";
import type { TaskQueueStore } from "../../operations/tasks/dispatch/task-queue-store.ts";
import type { TaskCounts } from "../../operations/tasks/figures/task-counts.ts";
import type { TaskFigureStore } from "../../operations/tasks/figures/task-figure-store.ts";
import type { RefusedParamsStore } from "../../operations/tasks/ledger/refused-params-store.ts";
import type { TaskLedgerStore } from "../../operations/tasks/ledger/task-ledger-store.ts";
import type { TaskTakeStore } from "../../operations/tasks/takes/task-take-store.ts";
import type { TaskProofStore } from "../../operations/tasks/upkeep/task-proof-store.ts";
import type { TaskDays } from "../../operations/tasks/upkeep/task-retention.ts";
import type { TimerCounts, TimerFiringStore, TimerStore } from "../../operations/timers/timer-store.ts";
import type { TypeDirectory } from "../../operations/types/type-check.ts";
import type { LivePools } from "../../operations/types/unknown-type.ts";
import { PostgresBalanceStore } from "./balance/postgres-balance-store.ts";
import { PostgresBooksStore } from "./books/postgres-books-store.ts";
import { PostgresRetentionStore } from "./books/retention-store.ts";
import { PostgresUnappliedStore } from "./books/unapplied-events.ts";
import { PostgresBulkWorkStore } from "./bulk-work/postgres-bulk-work-store.ts";
import { PostgresChangeLog } from "./changes/change-feed.ts";
import { countCommands } from "./commands/command-counts.ts";
import { PostgresCommandStore } from "./commands/postgres-command-store.ts";
import { recordErrors } from "./errors/error-rows.ts";
import { PostgresFeatureStore } from "./features/feature-store.ts";
import { countFlows } from "./flows/flow-counts.ts";
import { PostgresFlowFollowStore } from "./flows/flow-follow-store.ts";
import { PostgresFlowStore } from "./flows/postgres-flow-store.ts";
import { PostgresLogPlaces } from "./logs/log-places.ts";
import { PostgresProofStore } from "./observers/proof-store.ts";
import { PostgresReconcilerStore } from "./observers/reconciler-store.ts";
import { PostgresScheduledStartStore } from "./observers/scheduled-start-store.ts";
import { PostgresPoolStore } from "./pools/pool-store.ts";
import { PostgresRequestStore } from "./requests/postgres-request-store.ts";
import { PostgresLevelStore } from "./schedules/postgres-level-store.ts";
import { PostgresScheduleStore } from "./schedules/postgres-schedule-store.ts";
import { countSchedules } from "./schedules/schedule-counts.ts";
import { PostgresScheduleFiringStore } from "./schedules/schedule-firing-store.ts";
import { PostgresServiceStore } from "./services/service-store.ts";
import { PostgresSilenceStore } from "./services/silence-store.ts";
import { rethrowRefused } from "./statements/refused.ts";
import { PostgresTaskQueueStore } from "./tasks/claims/task-queue-store.ts";
import { PostgresTaskStore } from "./tasks/desk/postgres-task-store.ts";
import { PostgresTaskBulkStore } from "./tasks/desk/task-bulk-store.ts";
import { PostgresTaskFailureStore } from "./tasks/desk/task-failure-store.ts";
import { PostgresTaskLimitStore } from "./tasks/desk/task-limit-store.ts";
import { countTasks } from "./tasks/figures/task-counts.ts";
import { PostgresTaskFigureStore } from "./tasks/figures/task-figure-store.ts";
import { PostgresRefusedParamsStore } from "./tasks/ledger/refused-params-store.ts";
import { PostgresTaskLedgerStore } from "./tasks/ledger/task-ledger-store.ts";
import { PostgresTaskTakeStore } from "./tasks/takes/task-take-store.ts";
import { PostgresTaskDays } from "./tasks/upkeep/task-days.ts";
import { PostgresTaskProofStore } from "./tasks/upkeep/task-proof-store.ts";
import { PostgresTimerStore } from "./timers/postgres-timer-store.ts";
import { countTimers } from "./timers/timer-counts.ts";
import { PostgresTimerFiringStore } from "./timers/timer-firing-store.ts";
import { PostgresTypeDirectory } from "./types/type-reads.ts";

/** All that the operations keep in PostgreSQL, each by the interface that they define. */
export interface Stores {
  books: BooksStore;
  commands: CommandStore;
  commandCounts(): Promise<CommandCount[]>;
  errors: ErrorBook;
  silence: SilenceStore;
  reconciliation: ReconcilerStore;
  scheduledStarts: ScheduledStartStore;
  proofs: PostgresProofStore;
  pools: PoolStore;
  retention: RetentionStore;
  types: TypeDirectory;
  services: ServiceStore;
  logPlaces: LogPlaces;
  changes: ChangeLog;
  balance: BalanceStore;
  features: FeatureStore;
  unapplied: UnappliedStore;
  bulkWork: BulkWorkStore;
  tasks: {
    ledger: TaskLedgerStore;
    refused: RefusedParamsStore;
    queue: TaskQueueStore;
    store: TaskStore & TaskTypeStore & LivePools;
    proofs: TaskProofStore;
    days: TaskDays;
    limits: TaskLimitStore;
    bulk: TaskBulkStore;
    takes: TaskTakeStore;
    failures: TaskFailureStore;
    figures: TaskFigureStore;
    requests: RequestStore;
    counts(): Promise<TaskCounts>;
  };
  flows: {
    store: FlowStore;
    following: FlowFollowStore;
    counts(): Promise<FlowCounts>;
  };
  timers: {
    store: TimerStore;
    firing: TimerFiringStore;
    counts(): Promise<TimerCounts>;
  };
  schedules: {
    store: ScheduleStore;
    firing: ScheduleFiringStore;
    levels: LevelStore;
    counts(): Promise<ScheduleCounts>;
  };
}

export function postgresStores(dataSource: DataSource): Stores {
  return {
    books: new PostgresBooksStore(dataSource),
    commands: new PostgresCommandStore(dataSource),
    commandCounts: () => countCommands(dataSource),
    errors: { record: (all) => recordErrors(dataSource, all).catch(rethrowRefused) },
    silence: new PostgresSilenceStore(dataSource),
    reconciliation: new PostgresReconcilerStore(dataSource),
    scheduledStarts: new PostgresScheduledStartStore(dataSource),
    proofs: new PostgresProofStore(dataSource),
    pools: new PostgresPoolStore(dataSource),
    retention: new PostgresRetentionStore(dataSource),
    types: new PostgresTypeDirectory(dataSource),
    services: new PostgresServiceStore(dataSource),
    logPlaces: new PostgresLogPlaces(dataSource),
    changes: new PostgresChangeLog(dataSource),
    balance: new PostgresBalanceStore(dataSource),
    features: new PostgresFeatureStore(dataSource),
    unapplied: new PostgresUnappliedStore(dataSource),
    bulkWork: new PostgresBulkWorkStore(dataSource),
    tasks: {
      ledger: new PostgresTaskLedgerStore(dataSource),
      refused: new PostgresRefusedParamsStore(dataSource),
      queue: new PostgresTaskQueueStore(dataSource),
      store: new PostgresTaskStore(dataSource),
      proofs: new PostgresTaskProofStore(dataSource),
      days: new PostgresTaskDays(dataSource),
      limits: new PostgresTaskLimitStore(dataSource),
      bulk: new PostgresTaskBulkStore(dataSource),
      takes: new PostgresTaskTakeStore(dataSource),
      failures: new PostgresTaskFailureStore(dataSource),
      figures: new PostgresTaskFigureStore(dataSource),
      requests: new PostgresRequestStore(dataSource),
      counts: () => countTasks(dataSource),
    },
    flows: {
      store: new PostgresFlowStore(dataSource),
      following: new PostgresFlowFollowStore(dataSource),
      counts: () => countFlows(dataSource),
    },
    timers: {
      store: new PostgresTimerStore(dataSource),
      firing: new PostgresTimerFiringStore(dataSource),
      counts: () => countTimers(dataSource),
    },
    schedules: {
      store: new PostgresScheduleStore(dataSource),
      firing: new PostgresScheduleFiringStore(dataSource),
      levels: new PostgresLevelStore(dataSource),
      counts: () => countSchedules(dataSource),
    },
  };
}
