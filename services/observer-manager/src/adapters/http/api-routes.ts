import type { Role } from "@unacked/contracts";
import type { ManagerApi } from "../../flows/manager-api.ts";
import { auditRoute } from "./audit-route.ts";
import { batchRoute } from "./batch-route.ts";
import { bulkRoutes } from "./bulk-routes.ts";
import { errorRoutes } from "./error-routes.ts";
import { logRoute } from "./log-route.ts";
import { observerRoutes } from "./observer-routes.ts";
import { overviewRoutes } from "./overview-routes.ts";
import type { Route } from "./route.ts";
import { type SignInDesk, sessionRoutes } from "./session-routes.ts";
import { typeRoute } from "./type-route.ts";

/** Every call of the REST API that answers with JSON. They are described before anything is asked of `api`. */
export function apiRoutes({ lifecycle, reads, errors, services, logs, desk }: ApiParts): Route[] {
  const needs = (): Record<string, Role> => neededRoles(routes);
  const routes: Route[] = [
    ...sessionRoutes(desk, needs),
    ...observerRoutes(lifecycle, reads),
    batchRoute(lifecycle),
    ...bulkRoutes(lifecycle),
    logRoute(logs),
    ...overviewRoutes(reads, services),
    typeRoute(reads),
    ...errorRoutes(reads, errors),
    auditRoute(reads),
  ];
  return routes;
}

type ApiParts = Pick<ManagerApi, "lifecycle" | "reads" | "errors" | "services" | "logs"> & { desk: SignInDesk };

/** By operationId. The stream of changes is no route of this kind (event-stream.ts). */
const neededRoles = (routes: Route[]): Record<string, Role> =>
  Object.fromEntries(
    routes.flatMap(({ operationId, access }) => (access === "open" ? [] : [[operationId, access] as const])),
  );
