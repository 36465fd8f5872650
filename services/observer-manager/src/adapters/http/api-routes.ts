import type { ManagerApi } from "../../flows/manager-api.ts";
import { batchRoute } from "./batch-route.ts";
import { bulkRoutes } from "./bulk-routes.ts";
import { errorRoutes } from "./error-routes.ts";
import { observerRoutes } from "./observer-routes.ts";
import { overviewRoutes } from "./overview-routes.ts";
import type { Route } from "./route.ts";
import { typeRoute } from "./type-route.ts";

/** Every call of the REST API that answers with JSON. They are described before anything is asked of `api`. */
export function apiRoutes({ lifecycle, reads, errors }: Pick<ManagerApi, "lifecycle" | "reads" | "errors">): Route[] {
  return [
    ...observerRoutes(lifecycle, reads),
    batchRoute(lifecycle),
    ...bulkRoutes(lifecycle),
    ...overviewRoutes(reads),
    typeRoute(reads),
    ...errorRoutes(reads, errors),
  ];
}
