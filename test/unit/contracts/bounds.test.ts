import {
  CALLS,
  CreateObserver,
  CreateTask,
  KeptEntry,
  MAX_POSTPONE_MS,
  PutSchedule,
  PutTimer,
  TaskPostponement,
  TaskReturned,
} from "@unacked/contracts";
import { Postponing } from "@unacked/sdk/host";
import { describe, expect, it, test } from "vitest";
import type { z } from "zod";
import { scheduleActor } from "../../../services/observer-manager/src/operations/schedules/schedule-actor.ts";

const flawsOf = (schema: z.ZodType, given: unknown) => schema.safeParse(given).error?.issues.map(({ message }) => message);

describe("a time that comes in", () => {
  const startAt = (text: string) => flawsOf(CreateTask, { type: "t", startAt: text });

  it.each([
    "0001-01-01T00:00:00Z",
    "2030-01-01T00:00:00+15:59",
    "2030-01-01T00:00:00.123456789-15:59",
    "9998-12-31T23:59:59.999Z",
    "9999-01-01T10:00:00+15:00",
  ])("%s is taken", (text) => {
    expect(startAt(text)).toBeUndefined();
  });

  it.each([
    "9999-12-31T23:59:59-05:00",
    "9999-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
    "0000-01-01T00:00:00Z",
    "0000-12-31T23:59:59-10:00",
  ])("%s is none that can be shown", (text) => {
    expect(startAt(text)).toEqual(["must be in the years 1 to 9998 in UTC"]);
  });

  it.each(["+16:00", "-16:00", "+23:59"])("an offset of %s is none that PostgreSQL takes", (offset) => {
    const flaw = "must have an offset of at most 15:59, such as +02:00, or Z";
    expect(startAt(`2030-01-01T00:00:00${offset}`)).toEqual([flaw]);
  });

  test("has no fraction of a second that PostgreSQL gives up on", () => {
    expect(startAt(`2030-01-01T00:00:00.${"0".repeat(200)}Z`)).toHaveLength(1);
  });

  test("is held to it wherever it comes in", () => {
    const late = "9999-12-31T23:59:59Z";
    const schedule = { everyMs: 5_000, task: { type: "t" } };
    for (const flaws of [
      flawsOf(CreateObserver, { name: "o", type: "t", startAt: late }),
      flawsOf(PutSchedule, { ...schedule, startAt: late }),
      flawsOf(PutSchedule, { ...schedule, endAt: late }),
      flawsOf(CALLS.listAudit.query, { since: late }),
      flawsOf(CALLS.listAudit.query, { until: late }),
      flawsOf(CALLS.previewSchedule.query, { from: late }),
    ])
      expect(flaws).toEqual(["must be in the years 1 to 9998 in UTC"]);
    expect(flawsOf(PutTimer, { name: "t", at: late })).toHaveLength(1);
    expect(flawsOf(PutTimer, { name: "t", at: "1969-12-31T23:59:59Z" })).toHaveLength(1);
    expect(flawsOf(PutTimer, { name: "t", at: "1970-01-01T00:00:00Z" })).toBeUndefined();
  });
});

describe("a time that a service tells by its clock", () => {
  test("is taken as far as a Date goes, and shown as the end of times", () => {
    const told = { kind: "TaskReturned", taskId: crypto.randomUUID(), sendId: crypto.randomUUID() };
    const at = Date.parse("9998-12-31T23:59:59.999Z");
    expect(TaskReturned.parse({ ...told, at: 8_640_000_000_000_000 })).toMatchObject({ at });
    expect(TaskReturned.parse({ ...told, at: at - 1 })).toMatchObject({ at: at - 1 });
    expect(KeptEntry.parse({ seq: 1, at: 8_640_000_000_000_000, cut: false })).toMatchObject({ at });
    expect(flawsOf(KeptEntry, { seq: 1, at: 8_640_000_000_000_001, cut: false })).toHaveLength(1);
  });

  test("puts a task off by no more than a handler may", () => {
    expect(TaskPostponement.parse({ inMs: 8_640_000_000_000_000 })).toMatchObject({ inMs: MAX_POSTPONE_MS });
    const { postpone } = new Postponing();
    expect(() => postpone(MAX_POSTPONE_MS)).toThrow("postponed");
    expect(() => postpone(MAX_POSTPONE_MS + 1)).toThrow("more than a year");
  });
});

test("the audit trail can be asked for what any schedule did", () => {
  const { query } = CALLS.listAudit;
  expect(flawsOf(query, { requestId: scheduleActor("x".repeat(128)).requestId })).toBeUndefined();
  expect(flawsOf(query, { requestId: "x".repeat(161) })).toHaveLength(1);
});

it.each([".", ".."])("an observer is not named %s, which no client can put into a path", (name) => {
  expect(flawsOf(CreateObserver, { type: "t", name })).toEqual(["a path takes it, so it is not . or .."]);
  expect(flawsOf(CreateObserver, { type: "t", name: `${name}a` })).toBeUndefined();
});
