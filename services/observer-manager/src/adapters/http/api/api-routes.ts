import type { Role } from "@unacked/contracts";
import type { ManagerApi } from "../../../operations/manager-api.ts";
import { auditRoute } from "./access/audit-route.ts";
import { type SignInDesk, sessionRoutes } from "./access/session-routes.ts";
import { balanceRoutes } from "./balance/balance-routes.ts";
import { bulkWorkRoutes } from "./bulk-work/bulk-work-routes.ts";
import { errorRoutes } from "./errors/error-routes.ts";
import { flowRoutes } from "./flows/flow-routes.ts";
import { logRoute } from "./logs/log-route.ts";
import { batchRoute } from "./observers/batch-route.ts";
import { bulkRoutes } from "./observers/bulk-routes.ts";
import { checkpointRoutes } from "./observers/checkpoint-routes.ts";
import { observerRoutes } from "./observers/observer-routes.ts";
import { runFiguresRoute, statsRoute } from "./overview/stats-route.ts";
import { neededRoles, type Route } from "./route.ts";
import { scheduleRoutes } from "./schedules/schedule-routes.ts";
import { serviceRoutes, typeRoute } from "./services/service-routes.ts";
import { taskBulkRoutes } from "./tasks/task-bulk-routes.ts";
import { taskFailureRoutes } from "./tasks/task-failure-routes.ts";
import { taskFigureRoutes } from "./tasks/task-figure-routes.ts";
import { taskRoutes } from "./tasks/task-routes.ts";
import { taskTakeRoutes } from "./tasks/task-take-routes.ts";
import { taskTypeRoutes } from "./tasks/task-type-routes.ts";
import { timerRoutes } from "./timers/timer-routes.ts";

/** Every call of the REST API that answers with JSON. To describe them calls nothing of `api`. */
export function apiRoutes({
  lifecycle,
  checkpoints,
  reads,
  errors,
  services,
  balance,
  logs,
  tasks,
  taskTypes,
  taskFailures,
  taskFigures,
  taskTakes,
  flows,
  timers,
  schedules,
  bulkWork,
  desk,
}: ApiParts): Route[] {
  const needs = (): Record<string, Role> => neededRoles(routes);
  const routes: Route[] = [
    ...sessionRoutes(desk, needs),
    ...observerRoutes(lifecycle, reads),
    ...checkpointRoutes(checkpoints),
    batchRoute(lifecycle),
    ...bulkRoutes(lifecycle),
    logRoute(logs),
    ...taskRoutes(tasks),
    ...taskBulkRoutes(tasks),
    ...taskTakeRoutes(taskTakes),
    ...taskTypeRoutes(taskTypes),
    ...taskFailureRoutes(taskFailures),
    ...taskFigureRoutes(taskFigures),
    ...flowRoutes(flows),
    ...timerRoutes(timers),
    ...scheduleRoutes(schedules),
    ...bulkWorkRoutes(bulkWork),
    ...serviceRoutes(reads, services),
    ...balanceRoutes(balance),
    statsRoute(reads),
    runFiguresRoute(reads),
    typeRoute(reads),
    ...errorRoutes(reads, errors),
    auditRoute(reads),
  ];
  return routes;
}

interface ApiParts extends Omit<ManagerApi, "changes" | "readiness"> {
  desk: SignInDesk;
}
