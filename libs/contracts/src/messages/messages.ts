import { ControlMessage } from "./control.ts";
import { ErrorReport } from "./error-report.ts";
import { StateMessage } from "./events.ts";
import { LogReply } from "./log-reply.ts";
import { QueueMarker } from "./queue-marker.ts";
import { ReportedStart } from "./reported-start.ts";
import { StartObserver } from "./start-observer.ts";
import { StartTask, TaskBundle, TaskMarker } from "./start-task.ts";
import { TaskEventBatch } from "./task-events.ts";

/** Every body that travels between the programs, under the name by which it is decoded. */
export const MESSAGES = {
  StartObserver,
  QueueMarker,
  ControlMessage,
  StateMessage,
  ErrorReport,
  ReportedStart,
  LogReply,
  StartTask,
  TaskBundle,
  TaskMarker,
  TaskEventBatch,
};
