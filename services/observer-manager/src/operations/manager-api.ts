import type { Readiness } from "@unacked/contracts";
import type { BalanceTools } from "./balance/balance-desk.ts";
import type { BulkWorkTools } from "./bulk-work/bulk-work-desk.ts";
import type { ChangeHub } from "./changes/change-hub.ts";
import type { ErrorTools } from "./errors/error-desk.ts";
import type { FlowTools } from "./flows/flow-tools.ts";
import type { LogTools } from "./logs/log-tools.ts";
import type { ManagerReads } from "./manager-reads.ts";
import type { CheckpointTools } from "./observers/checkpoint-desk.ts";
import type { Lifecycle } from "./observers/observer-tools.ts";
import type { ScheduleTools } from "./schedules/schedule-tools.ts";
import type { ServiceTools } from "./services/service-desk.ts";
import type { TaskFailureTools, TaskFigureTools, TaskTakeTools, TaskTools, TaskTypeTools } from "./tasks/task-tools.ts";
import type { TimerTools } from "./timers/timer-tools.ts";

/** What the REST side needs from the rest of the manager. Failures of the database are thrown, everything else is answered. */
export interface ManagerApi {
  readonly lifecycle: Lifecycle;
  readonly checkpoints: CheckpointTools;
  readonly errors: ErrorTools;
  readonly services: ServiceTools;
  readonly balance: BalanceTools;
  readonly logs: LogTools;
  readonly tasks: TaskTools;
  readonly taskTypes: TaskTypeTools;
  readonly taskFailures: TaskFailureTools;
  readonly taskFigures: TaskFigureTools;
  readonly taskTakes: TaskTakeTools;
  readonly flows: FlowTools;
  readonly timers: TimerTools;
  readonly schedules: ScheduleTools;
  readonly bulkWork: BulkWorkTools;
  readonly reads: ManagerReads;
  readonly changes: Pick<ChangeHub, "subscribe">;
  /** Never rejects: a check that cannot be made is a check that failed. */
  readiness(): Promise<Readiness>;
}
