import { Books0001 } from "./0001-books.ts";
import { Managers0002 } from "./0002-managers.ts";
import { AbsenceProofs0003 } from "./0003-absence-proofs.ts";
import { TypeFacts0004 } from "./0004-type-facts.ts";
import { Tasks0005 } from "./0005-tasks.ts";
import { TaskServices0006 } from "./0006-task-services.ts";
import { TaskLimits0007 } from "./0007-task-limits.ts";
import { TaskFigures0008 } from "./0008-task-figures.ts";
import { CreateTask0009 } from "./0009-create-task.ts";
import { TaskWishes0010 } from "./0010-task-wishes.ts";
import { TaskRequests0011 } from "./0011-task-requests.ts";
import { Flows0012 } from "./0012-flows.ts";
import { Timers0013 } from "./0013-timers.ts";
import { Schedules0014 } from "./0014-schedules.ts";
import { Works0015 } from "./0015-works.ts";
import { Balance0016 } from "./0016-balance.ts";
import { RunRecords0017 } from "./0017-run-records.ts";
import { Services0018 } from "./0018-services.ts";
import { Observers0019 } from "./0019-observers.ts";
import { Commands0020 } from "./0020-commands.ts";
import { ErrorsAndAudit0021 } from "./0021-errors-and-audit.ts";

/**
 * 0001 is 0.1.0, the others are 0.2.0. What is new comes first, and last what changes tables of 0.1.0, in the order in which managers lock them at their
 * work: each stays locked until the transaction of all of them is over. TypeORM runs them by the times in their names.
 */
export const MIGRATIONS = [
  Books0001,
  Managers0002,
  AbsenceProofs0003,
  TypeFacts0004,
  Tasks0005,
  TaskServices0006,
  TaskLimits0007,
  TaskFigures0008,
  CreateTask0009,
  TaskWishes0010,
  TaskRequests0011,
  Flows0012,
  Timers0013,
  Schedules0014,
  Works0015,
  Balance0016,
  RunRecords0017,
  Services0018,
  Observers0019,
  Commands0020,
  ErrorsAndAudit0021,
];

/** Whether the books began with these migrations. */
export const areNew = (applied: readonly string[]): boolean => applied.includes(new Books0001().name);
