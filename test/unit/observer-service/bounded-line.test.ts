import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { boundedLine } from "../../../services/observer-service/src/bounded-line.ts";
import { ROOT } from "../../support/processes/processes.ts";

const line = (more: object): string => `${JSON.stringify({ level: "info", observer: "one", ...more })}\n`;

describe("a line of the log", () => {
  it("is written as it is unless it is too long", () => {
    const longest = line({ msg: "x".repeat(65_000) });
    expect(boundedLine(longest)).toBe(longest);
  });

  it("that is too long keeps what it says of itself; its long fields are cut, whatever they were, and it says so", () => {
    const deep = { list: Array.from({ length: 10_000 }, (_, n) => ({ n })), few: { a: 1 } };
    const given = line({ msg: "x".repeat(1_000_000), fields: deep, few: { a: 1 }, stack: '"\\\n😀'.repeat(50_000) });
    const written = boundedLine(given);
    expect(written.length).toBeLessThan(65_536);
    expect(written.endsWith("}\n")).toBe(true);
    expect(JSON.parse(written)).toEqual({
      level: "info",
      observer: "one",
      few: { a: 1 },
      cutFrom: given.length,
      msg: `${"x".repeat(8_191)}…`,
      fields: expect.stringMatching(/^\{"list":\[\{"n":0\}.{8000,}…$/),
      stack: expect.stringMatching(/^"\\\n😀/),
    });
  });

  it("is cut, too, where it is nested more deeply than can be looked at part by part", () => {
    const depth = 4_000; // of what JSON.stringify writes, but not with a replacer
    const deep: unknown = JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);
    const written = boundedLine(line({ fields: { deep }, pad: "x".repeat(65_536) }));
    expect(JSON.parse(written)).toMatchObject({ observer: "one", fields: expect.stringContaining("too deeply") });
  });

  it("is bounded for everything that logs, on standard output", () => {
    const log = JSON.stringify(join(ROOT, "services/observer-service/src/log.ts"));
    const script = `import { createLog } from ${log}; createLog("info").info({ fields: { text: "y".repeat(2e6) } }, "x");`;
    const { stdout } = spawnSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script], {
      encoding: "utf8",
      cwd: ROOT,
    });
    expect(stdout.length).toBeLessThan(65_536);
    expect(JSON.parse(stdout)).toMatchObject({ msg: "x", cutFrom: expect.any(Number) });
  });
});
