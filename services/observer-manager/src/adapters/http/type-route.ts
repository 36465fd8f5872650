import { TypeList } from "@unacked/contracts";
import type { ManagerReads } from "../../flows/manager-api.ts";
import { answer } from "./call-description.ts";
import { TYPES } from "./examples/service-examples.ts";
import { defineRoute } from "./route.ts";

export const typeRoute = (reads: ManagerReads) =>
  defineRoute({
    ...{
      method: "get",
      path: "/api/v1/types",
      tag: "Services",
      operationId: "listTypes",
      summary: "Observer types that living services have, with the JSON Schema of their params",
    },
    access: "viewer",
    answers: { 200: answer("The types, by name", TypeList, { "One type": TYPES }) },
    problems: [],
    handle: async () => ({ status: 200, body: await reads.listTypes() }),
  });
