import { type LogReply, newRunId, newServiceId } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import { toLogEntry } from "../../../services/observer-manager/src/domain/logs/log-entry.ts";
import { LogFollower, type PlacedLogEvent } from "../../../services/observer-manager/src/operations/logs/log-follower.ts";
import type { PlacedRun } from "../../../services/observer-manager/src/operations/logs/log-source.ts";

const place = (): PlacedRun => ({ id: newRunId(), service: { id: newServiceId(), name: "service-1" }, isCurrent: true });

const reply = (run: PlacedRun, seqs: number[], lastSeq = seqs.at(-1) ?? 0): LogReply => ({
  kind: "LogReply",
  requestId: "0190b7c8-0000-7000-8000-000000000001",
  serviceId: run.service.id,
  runId: run.id,
  state: "running",
  lastSeq,
  entries: seqs.map((seq) => ({ seq, at: 1_000, level: "info", message: `line ${seq}`, cut: false })),
});

const told = (events: PlacedLogEvent[]) =>
  events.map((event) => {
    if (event.name === "entry") return event.data.seq;
    return event.name === "omitted" ? `omitted ${event.data.count}` : event.name;
  });

describe("a client that follows an observer", () => {
  it("gets the newest of what was said before, and then each line once", () => {
    const follower = new LogFollower({ limit: 2 });
    const run = place();
    expect(follower.next(run)).toEqual({ afterSeq: 0, limit: 2 });
    expect(told(follower.take(run, reply(run, [8, 9])))).toEqual(["run", 8, 9]);
    expect(follower.next(run)).toMatchObject({ afterSeq: 9 });
    expect(told(follower.take(run, reply(run, [], 9)))).toEqual([]);
    expect(told(follower.take(run, reply(run, [10])))).toEqual([10]);
  });

  it("is told how much it has missed", () => {
    const follower = new LogFollower({ limit: 0 });
    const run = place();
    expect(told(follower.take(run, reply(run, [], 50)))).toEqual(["run"]);
    expect(follower.next(run)).toMatchObject({ afterSeq: 50 });
    expect(told(follower.take(run, reply(run, [170, 171])))).toEqual(["omitted 119", 170, 171]);
  });

  it("moves along to another run, and gets all that this one has said", () => {
    const follower = new LogFollower({ limit: 1 });
    const [first, second] = [place(), place()];
    follower.take(first, reply(first, [5]));
    expect(follower.next(second)).toEqual({ afterSeq: 0, limit: 1_000 });
    expect(told(follower.take(second, reply(second, [1, 2])))).toEqual(["run", 1, 2]);
  });

  it("goes on where it was", () => {
    const run = place();
    const follower = new LogFollower({ limit: 100, after: { runId: run.id, seq: 7 } });
    expect(follower.next(run)).toMatchObject({ afterSeq: 7 });
    const events = follower.take(run, reply(run, [8]));
    expect(told(events)).toEqual(["run", 8]);
    expect(events[1]?.after).toEqual({ runId: run.id, seq: 8 });
  });

  it("hears once why there is nothing, and again when that has changed", () => {
    const follower = new LogFollower({ limit: 100 });
    const waiting = (reason: "moving" | "no-answer") => told(follower.wait({ status: "Redistributing", reason }));
    expect([waiting("moving"), waiting("moving"), waiting("no-answer")]).toEqual([["waiting"], [], ["waiting"]]);
    const run = place();
    follower.take(run, reply(run, []));
    expect(waiting("no-answer")).toEqual(["waiting"]);
  });
});

describe("an entry", () => {
  it("is shown as what it was: a line with its fields, or a value", () => {
    const kept = { seq: 3, at: 1_000, cut: false };
    const common = { seq: 3, at: "1970-01-01T00:00:01.000Z", cut: false };
    expect(toLogEntry({ ...kept, level: "warn", message: "m", json: '{"a":1}' })).toEqual({
      ...common,
      kind: "log",
      level: "warn",
      message: "m",
      fields: { a: 1 },
    });
    expect(toLogEntry({ ...kept, level: "info", message: "m" })).not.toHaveProperty("fields");
    expect(toLogEntry({ ...kept, json: "null" })).toEqual({ ...common, kind: "emit", value: null });
    expect(toLogEntry({ ...kept, cut: true, json: '{"a":"bc…' })).toMatchObject({
      kind: "emit",
      cut: true,
      value: '{"a":"bc…',
    });
  });
});
