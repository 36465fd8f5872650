import { describe, expect, it } from "vitest";
import { scheduleFlawsOf, scheduleOf } from "../../../services/status-page/src/store/schedule-form.ts";

const TYPED = { id: "reports", cron: "0 9 * * *", timeZone: "UTC", type: "report", pool: "reports", params: '{"of":1}' };

describe("a new schedule", () => {
  it("asks for a task in the pool that was typed, and leaves an empty one to the manager", () => {
    const task = { type: "report", pool: "reports", params: { of: 1 } };
    expect(scheduleOf(TYPED)).toEqual({ body: { cron: "0 9 * * *", timeZone: "UTC", task } });
    expect(scheduleOf({ ...TYPED, pool: "" })).toMatchObject({ body: { task: { type: "report", params: { of: 1 } } } });
    expect(JSON.stringify(scheduleOf({ ...TYPED, pool: "" }))).not.toContain("pool");
  });

  it("is asked for only once it has an id: without one the manager would answer with the list", () => {
    expect(scheduleOf({ ...TYPED, id: "", params: "{" })).toEqual({
      flaws: { id: "is needed", params: expect.stringMatching(/^is no JSON/) },
    });
  });

  it("has what the manager found at its field", () => {
    const found = [
      { pointer: "/task/pool", message: "is too long" },
      { pointer: "/cron", message: "has no minute" },
    ];
    expect(scheduleFlawsOf(found)).toEqual({ pool: "is too long", cron: "has no minute" });
  });
});
