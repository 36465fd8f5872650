import { OBSERVER_STATUSES, PENDING, statusesThat } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import {
  decide,
  OBSERVER_INPUTS,
  OBSERVER_MACHINE,
  PENDING_MACHINE,
} from "../../../services/observer-manager/src/domain/observers/observer-machine.ts";

describe("the observer's machine", () => {
  it("decides every cell", () => {
    for (const status of OBSERVER_STATUSES) {
      for (const input of OBSERVER_INPUTS) expect(decide(status, input), `${status} × ${input}`).toBeDefined();
      expect(Object.keys(OBSERVER_MACHINE[status]).toSorted()).toEqual([...OBSERVER_INPUTS].toSorted());
    }
  });

  it("never changes what is over by anything that a service says", () => {
    const fromClients = [
      "delete",
      "delete-asking",
      "force-delete",
      "restart",
      "pause",
      "resume",
      "resume-early",
      "resume-changed",
      "update",
    ];
    for (const status of ["Deleted", "Failed", "Completed", "Paused"] as const) {
      for (const input of OBSERVER_INPUTS.filter((one) => !fromClients.includes(one)))
        expect(decide(status, input).kind, `${status} × ${input}`).toBe("ignore");
    }
  });

  it("stops a run that appears for an observer that is over", () => {
    for (const status of ["Deleted", "Failed", "Completed", "Paused"] as const)
      expect(decide(status, "run-current")).toEqual({ kind: "ignore", actions: ["stop-run"] });
  });

  it("answers a delete as the design says", () => {
    expect(decide("Created", "delete")).toEqual({ kind: "refuse", problem: "not-activated" });
    expect(decide("OnDeleting", "delete")).toEqual({ kind: "refuse", problem: "already-deleting" });
    expect(decide("Deleted", "delete")).toEqual({ kind: "refuse", problem: "already-deleted" });
    for (const status of ["Processing", "Redistributing", "Retrying"] as const)
      expect(decide(status, "delete")).toMatchObject({ kind: "go", to: "OnDeleting", actions: ["send-stop"] });
    for (const status of ["Failed", "Completed", "Paused"] as const)
      expect(decide(status, "delete")).toMatchObject({ to: "Deleted" });
    for (const status of ["Created", "OnDeleting"] as const)
      expect(decide(status, "force-delete")).toMatchObject({ kind: "go", to: "Deleted", actions: ["abandon"] });
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

describe("a pause", () => {
  /** What has no message yet is Paused at once. */
  const PAUSABLE = statusesThat(({ canPause, run }) => canPause && run !== "later");

  it("decides every cell while it is under way", () => {
    for (const pending of PENDING) {
      expect(Object.keys(PENDING_MACHINE[pending]).toSorted()).toEqual([...PAUSABLE].toSorted());
      for (const status of PAUSABLE)
        expect(Object.keys(PENDING_MACHINE[pending][status] ?? {}).toSorted()).toEqual([...OBSERVER_INPUTS].toSorted());
    }
  });

  it("leaves the status as it is and has the observer stopped wherever it is", () => {
    for (const status of PAUSABLE)
      expect(decide(status, "pause")).toEqual({ kind: "go", to: status, pending: "pause", actions: ["send-stop"] });
  });

  it("is at its end in Paused by whatever tells that there is no message any more, and nothing is sent", () => {
    for (const status of PAUSABLE) {
      for (const input of ["run-stopped", "start-refused", "type-unknown", "absent"] as const)
        expect(decide(status, input, "pause"), `${status} × ${input}`).toEqual({
          kind: "go",
          to: "Paused",
          pending: null,
          actions: ["forget"],
        });
    }
  });

  it("has a run stopped that appears meanwhile, and goes on when one is lost", () => {
    for (const status of PAUSABLE) {
      expect(decide(status, "run-current", "pause")).toMatchObject({ pending: "pause", actions: ["send-stop"] });
      const lost = decide(status, "run-lost", "pause");
      if (lost.kind === "go") expect(lost).toMatchObject({ to: "Redistributing", pending: "pause", actions: [] });
    }
  });

  it("never has a start sent while it is under way, whatever a service says", () => {
    for (const status of PAUSABLE) {
      for (const input of OBSERVER_INPUTS) {
        const decision = decide(status, input, "pause");
        if (decision.kind !== "refuse") expect(decision.actions, `${status} × ${input}`).not.toContain("send-start");
      }
    }
  });

  it("is taken back by a resumption, and what has followed the stop by then is sent again", () => {
    for (const status of PAUSABLE) {
      expect(decide(status, "resume", "pause")).toEqual({ kind: "go", to: status, pending: null, actions: ["forget-stop"] });
      for (const input of ["run-stopped", "start-refused"] as const)
        expect(decide(status, input), `${status} × ${input}`).toMatchObject({ to: "Created", actions: ["send-start"] });
    }
  });

  it("gives way to a stop for good, and to the handler's own end", () => {
    for (const status of PAUSABLE) {
      expect(decide(status, "delete", "pause")).toMatchObject(decide(status, "delete"));
      expect(decide(status, "force-delete", "pause")).toMatchObject(decide(status, "force-delete"));
      expect(decide(status, "run-failed", "pause")).toMatchObject({ to: "Failed", pending: null });
      expect(decide(status, "run-completed", "pause")).toMatchObject({ to: "Completed", pending: null });
    }
  });

  it("is answered by what is so, and refused by what is over", () => {
    expect(decide("Paused", "pause")).toEqual({ kind: "ignore", actions: [] });
    expect(decide("Paused", "resume")).toEqual({ kind: "go", to: "Created", pending: null, actions: ["send-start"] });
    expect(decide("Paused", "restart")).toEqual({ kind: "refuse", problem: "paused" });
    for (const status of ["Failed", "Completed"] as const) {
      expect(decide(status, "pause")).toEqual({ kind: "refuse", problem: "not-pausable" });
      expect(decide(status, "resume")).toEqual({ kind: "refuse", problem: "not-paused" });
    }
    for (const status of PAUSABLE) {
      expect(decide(status, "resume")).toEqual({ kind: "refuse", problem: "not-paused" });
      expect(decide(status, "restart", "pause")).toEqual({ kind: "refuse", problem: "paused" });
      expect(decide(status, "pause", "pause")).toEqual({ kind: "ignore", actions: [] });
    }
  });
});

describe("an update", () => {
  /** What has a message. */
  const RUNNING = ["Created", "Processing", "Retrying", "Redistributing"] as const;

  it("leaves the status as it is and has the observer stopped wherever it is", () => {
    for (const status of RUNNING)
      expect(decide(status, "update")).toEqual({ kind: "go", to: status, pending: "update", actions: ["send-stop"] });
  });

  it("is at its end by whatever tells that there is no message any more, and what is wanted by then is sent", () => {
    for (const status of RUNNING) {
      for (const input of ["run-stopped", "run-failed", "run-completed", "start-refused", "absent"] as const)
        expect(decide(status, input, "update"), `${status} × ${input}`).toEqual({
          kind: "go",
          to: "Created",
          pending: null,
          actions: ["forget-stop", "send-start"],
        });
      expect(decide(status, "type-unknown", "update")).toMatchObject({ actions: ["forget-stop", "send-start-later"] });
    }
  });

  it("sends nothing before that, has a run stopped that appears meanwhile, and goes on when one is lost", () => {
    const ends = ["run-stopped", "run-failed", "run-completed", "start-refused", "absent", "type-unknown"];
    for (const status of RUNNING) {
      expect(decide(status, "run-current", "update")).toMatchObject({ pending: "update", actions: ["send-stop"] });
      const lost = decide(status, "run-lost", "update");
      if (lost.kind === "go") expect(lost).toMatchObject({ to: "Redistributing", pending: "update", actions: [] });
      for (const input of OBSERVER_INPUTS.filter((one) => !ends.includes(one))) {
        const decision = decide(status, input, "update");
        if (decision.kind !== "refuse") expect(decision.actions, `${status} × ${input}`).not.toContain("send-start");
      }
    }
  });

  it("takes another change without a word, and a restart, as it starts again anyway", () => {
    for (const status of RUNNING) expect(decide(status, "update", "update")).toEqual({ kind: "ignore", actions: [] });
    for (const status of ["Processing", "Retrying"] as const)
      expect(decide(status, "restart", "update")).toEqual({ kind: "ignore", actions: [] });
    for (const status of ["Created", "Redistributing"] as const)
      expect(decide(status, "restart", "update")).toEqual(decide(status, "restart"));
  });

  it("gives way to a stop for good and to a pause, and is no pause that could be resumed", () => {
    for (const status of RUNNING) {
      expect(decide(status, "delete", "update")).toEqual(decide(status, "delete"));
      expect(decide(status, "force-delete", "update")).toEqual(decide(status, "force-delete"));
      expect(decide(status, "pause", "update")).toEqual(decide(status, "pause"));
      expect(decide(status, "resume", "update")).toEqual({ kind: "refuse", problem: "not-paused" });
    }
  });

  it("during a pause changes nothing of that; resumed, what was changed does not run on as it was", () => {
    for (const status of RUNNING) {
      expect(decide(status, "update", "pause")).toEqual({ kind: "ignore", actions: [] });
      expect(decide(status, "resume-changed", "pause")).toEqual(decide(status, "update"));
    }
  });

  it("of what has no message asks for nothing, and is refused where it would come to nothing", () => {
    for (const status of ["Scheduled", "Paused", "Failed", "Completed"] as const)
      expect(decide(status, "update"), status).toEqual({ kind: "ignore", actions: [] });
    expect(decide("OnDeleting", "update")).toEqual({ kind: "refuse", problem: "already-deleting" });
    expect(decide("Deleted", "update")).toEqual({ kind: "refuse", problem: "already-deleted" });
  });
});

describe("an observer that is to start later", () => {
  it("is sent when its time has come, once, and by nothing else", () => {
    expect(decide("Scheduled", "start-due")).toEqual({ kind: "go", to: "Created", pending: null, actions: ["send-start"] });
    for (const status of OBSERVER_STATUSES.filter((one) => one !== "Scheduled"))
      expect(decide(status, "start-due"), status).toEqual({ kind: "ignore", actions: [] });
    for (const input of OBSERVER_INPUTS.filter((one) => one !== "start-due")) {
      const decision = decide("Scheduled", input);
      if (decision.kind !== "refuse") expect(decision.actions, input).not.toContain("send-start");
    }
  });

  it("is Deleted or Paused at once, and not restarted", () => {
    for (const input of ["delete", "force-delete"] as const)
      expect(decide("Scheduled", input)).toEqual({ kind: "go", to: "Deleted", pending: null, actions: ["forget"] });
    expect(decide("Scheduled", "pause")).toEqual({ kind: "go", to: "Paused", pending: null, actions: [] });
    expect(decide("Scheduled", "restart")).toEqual({ kind: "refuse", problem: "scheduled" });
    expect(decide("Scheduled", "resume")).toEqual({ kind: "refuse", problem: "not-paused" });
  });

  it("resumed before its time it waits for that again, and a resumption is otherwise what it was", () => {
    expect(decide("Paused", "resume-early")).toEqual({ kind: "go", to: "Scheduled", pending: null, actions: [] });
    for (const status of OBSERVER_STATUSES.filter((one) => one !== "Paused"))
      for (const pending of [null, ...PENDING])
        expect(decide(status, "resume-early", pending), status).toEqual(decide(status, "resume", pending));
  });

  it("has a run stopped that nobody should have, and nothing that a service says changes it", () => {
    expect(decide("Scheduled", "run-current")).toEqual({ kind: "ignore", actions: ["stop-run"] });
    for (const input of ["run-stopped", "run-failed", "run-completed", "run-lost", "start-refused", "absent"] as const)
      expect(decide("Scheduled", input), input).toEqual({ kind: "ignore", actions: [] });
  });
});
