import { readFileSync } from "node:fs";
import { OBSERVER_STATUSES, type ObserverStatus, traitsOf } from "@unacked/contracts";
import { describe, expect, test } from "vitest";
import { decide, type ObserverInput } from "../../../services/observer-manager/src/domain/observers/observer-machine.ts";

const MIGRATIONS = new URL("../../../services/observer-manager/src/adapters/postgres/migrations/", import.meta.url);
const goes = (status: ObserverStatus, input: ObserverInput) => decide(status, input).kind === "go";

describe.each(OBSERVER_STATUSES)("the traits of %s", (status) => {
  const { run, stop, canRestart, canPause } = traitsOf(status);

  test("say of stops and restarts what the machine decides", () => {
    const decided = goes(status, "delete") ? "gently" : goes(status, "force-delete") ? "by-force" : "no";
    expect(stop).toBe(decided);
    expect(canRestart).toBe(decide(status, "restart").kind !== "refuse");
  });

  test("say of pauses and resumptions what the machine decides", () => {
    expect(canPause).toBe(goes(status, "pause"));
    expect(run === "on-hold").toBe(goes(status, "resume"));
  });

  test("say of its run what the machine makes of one that appears, and of one that is lost", () => {
    const met = decide(status, "run-current");
    const lost = decide(status, "run-lost");
    expect(met.kind === "ignore").toBe(["none", "on-hold", "later"].includes(run));
    if (met.kind === "go") expect(traitsOf(met.to).run).toBe(run === "ending" ? "ending" : "current");
    if (run === "current") expect(lost.kind === "go" && traitsOf(lost.to).run).toBe("awaited");
  });

  test("are those of the constraints of the books", () => {
    const read = (file: string) => readFileSync(new URL(file, MIGRATIONS), "utf8").replaceAll(/\s+/g, " ");
    const [books, observers] = [read("0001-books.ts"), read("0019-observers.ts")];
    const listed = (constraint: RegExp, text = books) => constraint.exec(text)?.[1]?.includes(`'${status}'`);
    expect(listed(/CONSTRAINT status_is_known CHECK \(status IN \(([^)]*)\)/, observers)).toBe(true);
    expect(listed(/pending IS NULL OR status IN \(([^)]*)\)/, observers)).toBe(canPause && run !== "later");
    expect(listed(/CONSTRAINT running_has_a_run CHECK \(status NOT IN \(([^)]*)\)/)).toBe(run === "current");
    expect(listed(/\(current_run_id IS NULL OR status IN \(([^)]*)\)/)).toBe(run === "current" || run === "ending");
  });
});
