import { AuditTable } from "./audit.ts";
import { CommandsTable } from "./commands.ts";
import { ErrorsTable, UnappliedEventsTable } from "./errors.ts";
import { FlowEdgesTable, FlowEndsTable, FlowsTable, FlowTasksTable } from "./flows.ts";
import { ObserverCountsTable, ObserversTable } from "./observers.ts";
import { RunsTable, UnknownRunsTable } from "./runs.ts";
import { OccurrencesTable, ScheduleObserversTable, SchedulesTable } from "./schedules.ts";
import { AbsenceProofsTable, ManagersTable, ServicesTable } from "./services.ts";
import { TaskFigureDeltasTable, TaskFiguresTable } from "./task-figures.ts";
import {
  EndedTasksTable,
  TaskProofsTable,
  TaskRequestsTable,
  TaskServicesTable,
  TasksTable,
  TaskTypesTable,
} from "./tasks.ts";
import { EndedTimersTable, TimerOwnersTable, TimersTable } from "./timers.ts";

/**
 * Every table, as the migrations leave it: its columns, what they mean, its indexes by name. The migrations make them, these
 * describe them; test/integration/manager-tables.test.ts holds the one against the other.
 */
export const TABLES = [
  ObserversTable,
  ObserverCountsTable,
  RunsTable,
  UnknownRunsTable,
  ServicesTable,
  ManagersTable,
  AbsenceProofsTable,
  CommandsTable,
  ErrorsTable,
  UnappliedEventsTable,
  AuditTable,
  TasksTable,
  EndedTasksTable,
  TaskServicesTable,
  TaskProofsTable,
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
  TimerOwnersTable,
  SchedulesTable,
  OccurrencesTable,
  ScheduleObserversTable,
];
