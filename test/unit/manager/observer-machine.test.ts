import { OBSERVER_STATUSES } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import {
  decide,
  OBSERVER_INPUTS,
  OBSERVER_MACHINE,
} from "../../../services/observer-manager/src/domain/observers/observer-machine.ts";

describe("the observer's machine", () => {
  it("decides every cell", () => {
    for (const status of OBSERVER_STATUSES) {
      for (const input of OBSERVER_INPUTS) expect(decide(status, input), `${status} × ${input}`).toBeDefined();
      expect(Object.keys(OBSERVER_MACHINE[status]).toSorted()).toEqual([...OBSERVER_INPUTS].toSorted());
    }
  });

  it("never changes what is over by anything that a service says", () => {
    const fromClients = ["delete", "force-delete", "restart"];
    for (const status of ["Deleted", "Failed", "Completed"] as const) {
      for (const input of OBSERVER_INPUTS.filter((one) => !fromClients.includes(one)))
        expect(decide(status, input).kind, `${status} × ${input}`).toBe("ignore");
    }
  });

  it("stops a run that appears for an observer that is over", () => {
    for (const status of ["Deleted", "Failed", "Completed"] as const)
      expect(decide(status, "run-current")).toEqual({ kind: "ignore", actions: ["stop-run"] });
  });

  it("answers a delete as the design says", () => {
    expect(decide("Created", "delete")).toEqual({ kind: "refuse", problem: "not-activated" });
    expect(decide("OnDeleting", "delete")).toEqual({ kind: "refuse", problem: "already-deleting" });
    expect(decide("Deleted", "delete")).toEqual({ kind: "refuse", problem: "already-deleted" });
    for (const status of ["Processing", "Redistributing", "Retrying"] as const)
      expect(decide(status, "delete")).toMatchObject({ kind: "go", to: "OnDeleting", actions: ["send-stop"] });
    for (const status of ["Failed", "Completed"] as const) expect(decide(status, "delete")).toMatchObject({ to: "Deleted" });
    for (const status of ["Created", "OnDeleting"] as const)
      expect(decide(status, "force-delete")).toMatchObject({ kind: "go", to: "Deleted", actions: ["forget"] });
  });

  it("leaves OnDeleting only for Deleted", () => {
    for (const input of OBSERVER_INPUTS) {
      const decision = decide("OnDeleting", input);
      if (decision.kind === "go") expect(["OnDeleting", "Deleted"], input).toContain(decision.to);
    }
  });

  it("leaves Deleted for nothing", () => {
    for (const input of OBSERVER_INPUTS) expect(decide("Deleted", input).kind, input).not.toBe("go");
  });
});
