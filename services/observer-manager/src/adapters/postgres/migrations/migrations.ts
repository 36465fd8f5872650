import { Books0001 } from "./0001-books.ts";
import { UnknownRuns0002 } from "./0002-unknown-runs.ts";
import { Features0003 } from "./0003-features.ts";
import { UnappliedEvents0004 } from "./0004-unapplied-events.ts";
import { DeliveryCount0006 } from "./0006-delivery-count.ts";
import { CommandClaims0008 } from "./0008-command-claims.ts";
import { BrokenFiles0009 } from "./0009-broken-files.ts";
import { AbsenceProofs0011 } from "./0011-absence-proofs.ts";
import { Slots0012 } from "./0012-slots.ts";
import { NotConsuming0013 } from "./0013-not-consuming.ts";
import { Tasks0014 } from "./0014-tasks.ts";
import { TaskLimits0015 } from "./0015-task-limits.ts";
import { TaskKeys0016 } from "./0016-task-keys.ts";
import { CreateTask0017 } from "./0017-create-task.ts";
import { TaskStories0018 } from "./0018-task-stories.ts";
import { TaskTakes0019 } from "./0019-task-takes.ts";
import { TaskParents0020 } from "./0020-task-parents.ts";
import { TaskFigures0021 } from "./0021-task-figures.ts";
import { TaskRequests0022 } from "./0022-task-requests.ts";
import { ClaimFloors0023 } from "./0023-claim-floors.ts";
import { Timers0024 } from "./0024-timers.ts";
import { Pause0025 } from "./0025-pause.ts";
import { Schedules0026 } from "./0026-schedules.ts";
import { Flows0028 } from "./0028-flows.ts";
import { TimerNames0030 } from "./0030-timer-names.ts";
import { ScheduledObservers0031 } from "./0031-scheduled-observers.ts";
import { ChangedObservers0032 } from "./0032-changed-observers.ts";
import { Admission0033 } from "./0033-admission.ts";
import { Silence0034 } from "./0034-silence.ts";
import { TimerClaims0035 } from "./0035-timer-claims.ts";
import { History0037 } from "./0037-history.ts";
import { RunFigures0038 } from "./0038-run-figures.ts";
import { HotUpdate0039 } from "./0039-hot-update.ts";
import { KnownFeatures0041 } from "./0041-known-features.ts";
import { Works0043 } from "./0043-works.ts";
import { Balance0046 } from "./0046-balance.ts";
import { Reload0047 } from "./0047-reload.ts";
import { FlightCounts0048 } from "./0048-flight-counts.ts";
import { TimerClaimsApart0049 } from "./0049-timer-claims-apart.ts";
import { EndedTasksOfPool0050 } from "./0050-ended-tasks-of-pool.ts";
import { TaskWishes0051 } from "./0051-task-wishes.ts";
import { ServicesGone0052 } from "./0052-services-gone.ts";
import { TasksByAge0053 } from "./0053-tasks-by-age.ts";
import { TaskIds0054 } from "./0054-task-ids.ts";
import { WishesOnce0055 } from "./0055-wishes-once.ts";
import { WorksProblem0056 } from "./0056-works-problem.ts";
import { RunsAskedOnce0057 } from "./0057-runs-asked-once.ts";
import { AuditOfDeed0058 } from "./0058-audit-of-deed.ts";
import { TimersByEnd0059 } from "./0059-timers-by-end.ts";
import { FlowsByStatus0060 } from "./0060-flows-by-status.ts";
import { PathsWithoutBooks0061 } from "./0061-paths-without-books.ts";
import { TypeFacts0062 } from "./0062-type-facts.ts";
import { DueTimersFrom0063 } from "./0063-due-timers-from.ts";
import { WishesRecorded0064 } from "./0064-wishes-recorded.ts";
import { EditedTasks0065 } from "./0065-edited-tasks.ts";

/** All of them, as their files are numbered. TypeORM runs them by the times in their names. */
export const MIGRATIONS = [
  Books0001,
  UnknownRuns0002,
  Features0003,
  UnappliedEvents0004,
  DeliveryCount0006,
  CommandClaims0008,
  BrokenFiles0009,
  AbsenceProofs0011,
  Slots0012,
  NotConsuming0013,
  Tasks0014,
  TaskLimits0015,
  TaskKeys0016,
  CreateTask0017,
  TaskStories0018,
  TaskTakes0019,
  TaskParents0020,
  TaskFigures0021,
  TaskRequests0022,
  ClaimFloors0023,
  Timers0024,
  Pause0025,
  Schedules0026,
  Flows0028,
  TimerNames0030,
  ScheduledObservers0031,
  ChangedObservers0032,
  Admission0033,
  Silence0034,
  TimerClaims0035,
  History0037,
  RunFigures0038,
  HotUpdate0039,
  KnownFeatures0041,
  Works0043,
  Balance0046,
  Reload0047,
  FlightCounts0048,
  TimerClaimsApart0049,
  EndedTasksOfPool0050,
  TaskWishes0051,
  ServicesGone0052,
  TasksByAge0053,
  TaskIds0054,
  WishesOnce0055,
  WorksProblem0056,
  RunsAskedOnce0057,
  AuditOfDeed0058,
  TimersByEnd0059,
  FlowsByStatus0060,
  PathsWithoutBooks0061,
  TypeFacts0062,
  DueTimersFrom0063,
  WishesRecorded0064,
  EditedTasks0065,
];

/** Whether the books began with these migrations. */
export const areNew = (applied: readonly string[]): boolean => applied.includes(new Books0001().name);
