import type { ManagerApi } from "../../flows/manager-api.ts";
import { batchRoute } from "./batch-route.ts";
import { bulkRoutes } from "./bulk-routes.ts";
import { errorRoutes } from "./error-routes.ts";
import { logRoute } from "./log-route.ts";
import { observerRoutes } from "./observer-routes.ts";
import { overviewRoutes } from "./overview-routes.ts";
import type { Route } from "./route.ts";
import { typeRoute } from "./type-route.ts";

/** Every call of the REST API that answers with JSON. They are described before anything is asked of `api`. */
export function apiRoutes(api: Pick<ManagerApi, "lifecycle" | "reads" | "errors" | "services" | "logs">): Route[] {
  const { lifecycle, reads, errors, services, logs } = api;
  return [
    ...observerRoutes(lifecycle, reads),
    batchRoute(lifecycle),
    ...bulkRoutes(lifecycle),
    logRoute(logs),
    ...overviewRoutes(reads, services),
    typeRoute(reads),
    ...errorRoutes(reads, errors),
  ];
}
