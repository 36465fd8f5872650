import { expect, test } from "vitest";
import * as audit from "../../../services/status-page/src/store/audit-filter.ts";
import * as flows from "../../../services/status-page/src/store/flow-filter.ts";

test("a name with a space can be typed: it stands as it is typed, and is asked for without the spaces around it", () => {
  const flow = flows.flowFilterOf("?name=nightly+");
  expect(flow.name).toBe("nightly ");
  expect(flows.addressOfFlows({ ...flow, name: `${flow.name}import` })).toBe("/flows?name=nightly+import");
  expect(flows.queryOf(flow)).toEqual({ name: "nightly" });
  expect(flows.queryOf({ ...flow, name: " " })).toEqual({});
  const entries = audit.auditFilterOf("?actor=night+&target=+&targetKind=task");
  expect(entries).toMatchObject({ actor: "night ", target: " ", targetKind: "task" });
  expect(audit.queryOf(entries)).toEqual({ actor: "night" }); // a kind alone narrows nothing
  expect(audit.queryOf({ ...entries, target: "a" })).toEqual({ actor: "night", target: "a", targetKind: "task" });
});
