import { describe, expect, it } from "vitest";
import { ExportWatch } from "../../../libs/tracing/src/export-watch.ts";
import { SdkComplaints } from "../../../libs/tracing/src/sdk-complaints.ts";

function keptLines() {
  const lines: Record<string, unknown>[] = [];
  const keep = (fields: object) => void lines.push({ ...fields });
  return { lines, log: { info: keep, warn: keep } };
}

describe("a collector that takes nothing", () => {
  it("has one line, a reminder every ten minutes with what was lost since, and one when it takes again", () => {
    const { lines, log } = keptLines();
    let nowMs = 0;
    const watch = new ExportWatch(log, () => nowMs);
    watch.arrived();
    for (; nowMs < 1_200_000; nowMs += 5_000) watch.failed(10, new Error("no"));
    watch.arrived();
    watch.arrived();
    expect(lines).toEqual([
      { event: "spans-lost", lost: 10, reason: "no" },
      { event: "spans-lost", lost: 1_210, reason: "no" },
      { event: "spans-arrive", lost: 2_400 },
    ]);
    watch.failed(1, undefined);
    expect(lines.at(-1)).toMatchObject({ event: "spans-lost", lost: 1 });
  });

  it("is told by its code where the error has no words, and never at length", () => {
    const { lines, log } = keptLines();
    const refused = Object.assign(new AggregateError([]), { code: "ECONNREFUSED" });
    new ExportWatch(log).failed(1, refused);
    new ExportWatch(log).failed(1, new Error("x".repeat(10_000)));
    expect(lines[0]).toMatchObject({ reason: "ECONNREFUSED" });
    expect(String(lines[1]?.reason)).toHaveLength(200);
  });
});

describe("what the SDK complains of", () => {
  it("is said once each, whatever its numbers, twenty at most, and without a password", () => {
    const { lines, log } = keptLines();
    const complaints = new SdkComplaints(log);
    for (let i = 0; i < 100; i += 1) complaints.take(`Dropped ${i} spans because maxQueueSize reached`);
    complaints.take("Could not parse 'http://me:secret@collector:x'");
    for (let i = 0; i < 100; i += 1) complaints.take(`another ${"thing ".repeat(i)}`);
    expect(lines).toHaveLength(20);
    expect(lines.slice(0, 2)).toEqual([
      { event: "tracing-complaint", detail: "Dropped 0 spans because maxQueueSize reached" },
      { event: "tracing-complaint", detail: "Could not parse 'http://collector:x'" },
    ]);
  });
});
