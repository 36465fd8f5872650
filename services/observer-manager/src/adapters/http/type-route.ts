import { TypeList } from "@unacked/contracts";
import type { ManagerReads } from "../../flows/manager-api.ts";
import { defineRoute } from "./route.ts";

export const typeRoute = (reads: ManagerReads) =>
  defineRoute({
    ...{
      method: "get",
      path: "/api/v1/types",
      operationId: "listTypes",
      summary: "Observer types that living services have, with the JSON Schema of their params",
    },
    answers: { 200: { description: "The types, by name", schema: TypeList } },
    problems: [],
    handle: async () => ({ status: 200, body: await reads.listTypes() }),
  });
