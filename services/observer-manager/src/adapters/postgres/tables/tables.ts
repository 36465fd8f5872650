import { AuditTable } from "./audit.ts";
import { MovesTable, RebalancesTable } from "./balance.ts";
import { CheckpointsTable } from "./checkpoints.ts";
import { CommandsTable } from "./commands.ts";
import { ErrorsTable, UnappliedEventsTable } from "./errors.ts";
import { FlowEdgesTable, FlowEndsTable, FlowsTable, FlowTasksTable } from "./flows.ts";
import { ObserverCountsTable, ObserversTable } from "./observers.ts";
import { RunFiguresTable } from "./run-figures.ts";
import { RunsTable, UnknownRunsTable } from "./runs.ts";
import { OccurrencesTable, ScheduleObserversTable, SchedulesTable } from "./schedules.ts";
import { AbsenceProofsTable, KnownFeaturesTable, ManagersTable, ServicesTable } from "./services.ts";
import { TaskFigureDeltasTable, TaskFiguresTable } from "./task-figures.ts";
import {
  EndedTasksTable,
  TaskProofsTable,
  TaskRequestsTable,
  TaskServicesTable,
  TasksTable,
  TaskTypesTable,
  TaskWishesTable,
} from "./tasks.ts";
import { EndedTimersTable, TimerClaimsTable, TimerOwnersTable, TimersTable } from "./timers.ts";
import { WorksTable } from "./works.ts";

/**
 * Every table, as the migrations leave it: its columns, what they mean, its indexes by name. The migrations make them, these
 * describe them; test/integration/manager-tables.test.ts holds the one against the other.
 */
export const TABLES = [
  ObserversTable,
  ObserverCountsTable,
  RunsTable,
  RunFiguresTable,
  UnknownRunsTable,
  CheckpointsTable,
  ServicesTable,
  ManagersTable,
  KnownFeaturesTable,
  AbsenceProofsTable,
  RebalancesTable,
  MovesTable,
  CommandsTable,
  ErrorsTable,
  UnappliedEventsTable,
  AuditTable,
  TasksTable,
  EndedTasksTable,
  TaskServicesTable,
  TaskProofsTable,
  TaskWishesTable,
  TaskTypesTable,
  TaskFigureDeltasTable,
  TaskFiguresTable,
  TaskRequestsTable,
  FlowsTable,
  FlowTasksTable,
  FlowEdgesTable,
  FlowEndsTable,
  TimersTable,
  EndedTimersTable,
  TimerClaimsTable,
  TimerOwnersTable,
  SchedulesTable,
  OccurrencesTable,
  ScheduleObserversTable,
  WorksTable,
];
