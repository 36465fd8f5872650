import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { freeMemoryBytes, memoryInUse } from "../../../services/observer-service/src/machine/memory.ts";
import { DEFAULT_COST_BYTES, RunCost } from "../../../services/observer-service/src/machine/run-cost.ts";
import { MemoryOutlook } from "../../../services/observer-service/src/service/memory-outlook.ts";

const MIB = 2 ** 20;
const files = (content: Record<string, string>) => (path: string) => content[path];
const MEMINFO = { "/proc/meminfo": "MemTotal:       4096 kB\nMemAvailable:   3072 kB\n" };

describe("memory that is in use", () => {
  test("is the control group's of version 2, less the cache that can be dropped", () => {
    const read = files({
      ...MEMINFO,
      "/proc/self/cgroup": "0::/a/b\n",
      "/sys/fs/cgroup/a/memory.max": "1000\n",
      "/sys/fs/cgroup/a/memory.current": "900\n",
      "/sys/fs/cgroup/a/memory.stat": "anon 100\ninactive_file 300\nactive_file 400\n",
      "/sys/fs/cgroup/a/b/memory.max": "500\n",
      "/sys/fs/cgroup/a/b/memory.current": "400\n",
      "/sys/fs/cgroup/a/b/memory.stat": "inactive_file 0\n",
    });
    expect(memoryInUse(7, read)).toEqual({ usedBytes: 400, limitBytes: 500, of: "its control group" });
    expect(freeMemoryBytes(read)).toBe(100);
  });
  test("is the control group's of version 1", () => {
    const read = files({
      ...MEMINFO,
      "/proc/self/cgroup": "4:memory:/a\n",
      "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
      "/sys/fs/cgroup/memory/a/memory.limit_in_bytes": "1000\n",
      "/sys/fs/cgroup/memory/a/memory.usage_in_bytes": "700\n",
      "/sys/fs/cgroup/memory/a/memory.stat": "inactive_file 1\ntotal_inactive_file 200\n",
    });
    expect(memoryInUse(7, read)).toMatchObject({ usedBytes: 500, limitBytes: 1_000 });
    expect(freeMemoryBytes(read)).toBe(500);
  });
  test("is its own of what the machine has left where nothing limits it: a machine that others fill does not count", () => {
    expect(memoryInUse(MIB, files(MEMINFO))).toMatchObject({ usedBytes: MIB, limitBytes: 4 * MIB });
    expect(freeMemoryBytes(files(MEMINFO))).toBe(3 * MIB);
  });
  test("is not known without /proc", () => {
    expect(memoryInUse(1, () => undefined)).toBeUndefined();
    expect(freeMemoryBytes(() => undefined)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("what is looked at while tasks run", () => {
  /** Three observers beside tasks. @param looks of what has grown, and whether it is settled; `ends`: a task that began and ended before */
  function costAfter(...looks: { grown: number; running?: number; ends?: boolean; isSettled?: boolean }[]): number {
    let now = looks[0];
    const slots = { memory: () => ({ usedBytes: 0, limitBytes: 1, grownBytes: (now?.grown ?? 0) * MIB }) };
    const runs = { observers: () => 3, tasks: () => now?.running ?? 0 };
    const outlook = new MemoryOutlook(slots, new RunCost(undefined, "a"), runs);
    let costBytes = 0;
    for (const look of looks) {
      now = look;
      if (look.ends === true) outlook.taskEnded();
      ({ costBytes } = outlook.look(look.isSettled ?? true));
    }
    return costBytes / MIB;
  }
  test("is thought to be the observers' until it is gone, whoever runs or has run: too little could fill the memory", () => {
    const fallen = Array.from({ length: 100 }, () => ({ grown: 3 }));
    for (const beside of [{ running: 10 }, { ends: true }]) {
      expect(costAfter({ grown: 3 }, { grown: 303, ...beside }, { grown: 303 })).toBe(101);
      expect(costAfter({ grown: 3 }, { grown: 303, ...beside }, ...fallen)).toBe(4);
    }
  });
});

describe("what an observer takes", () => {
  const folder = (): string => mkdtempSync(join(tmpdir(), "run-cost-"));

  test("is believed at once when it is more than was thought, and slowly when it is less", () => {
    const cost = new RunCost(undefined, "a");
    expect(cost.bytes).toBe(DEFAULT_COST_BYTES);
    cost.note(2, 2_000 * MIB); // two tell nothing
    cost.note(4, 4 * MIB); // nor do four that it is less
    expect(cost.bytes).toBe(DEFAULT_COST_BYTES);
    cost.note(4, 40 * MIB);
    expect(cost.bytes).toBe(10 * MIB);
    cost.note(20, 20 * MIB);
    expect(cost.bytes).toBeCloseTo(9.1 * MIB, 0);
  });
  test("is kept for the next start, each service's for itself", () => {
    const dir = join(folder(), "made");
    const cost = new RunCost(dir, "a");
    cost.note(10, 200 * MIB);
    cost.keep();
    expect(new RunCost(dir, "a").bytes).toBe(20 * MIB);
    expect(new RunCost(dir, "b").bytes).toBe(DEFAULT_COST_BYTES);
    expect(JSON.parse(readFileSync(join(dir, "run-cost-a.json"), "utf8"))).toEqual({ bytesPerObserver: 20 * MIB });
  });
  test("is not more because most of them have ended, and what they leave is not collected yet", () => {
    const dir = folder();
    const cost = new RunCost(dir, "a");
    for (let i = 0; i < 100; i += 1) cost.note(100, 200 * MIB);
    for (const left of [60, 5, 2, 5]) cost.note(left, 200 * MIB);
    cost.keep();
    expect(cost.bytes / MIB).toBeCloseTo(2, 1);
    expect(new RunCost(dir, "a").bytes / MIB).toBeCloseTo(2, 1);
    cost.note(5, 10 * MIB); // collected: what comes now is theirs
    cost.note(5, 100 * MIB);
    expect(cost.bytes).toBe(20 * MIB);
  });
  test("is not less because many light ones ran before, whose garbage has been collected, or was where these are now", () => {
    const [collected, reused] = [new RunCost(undefined, "a"), new RunCost(undefined, "b")];
    for (const cost of [collected, reused]) {
      for (let i = 0; i < 100; i += 1) cost.note(100, 100 * MIB);
      cost.note(5, 100 * MIB);
    }
    for (let i = 0; i < 100; i += 1) collected.note(0, 2 * MIB);
    for (const cost of [collected, reused]) for (let i = 0; i < 100; i += 1) cost.note(10, 400 * MIB);
    expect(collected.bytes / MIB).toBeCloseTo(40, 0);
    expect(reused.bytes).toBeGreaterThan(25 * MIB); // less by what the others left, and no more than that
    for (let i = 0; i < 100; i += 1) reused.note(10, 4_000 * MIB);
    expect(reused.bytes).toBeGreaterThan(385 * MIB);
  });
  test("is not more because what the ended have left is a little more than they took, nor less as they come and go", () => {
    const cost = new RunCost(undefined, "a");
    for (let i = 0; i < 100; i += 1) cost.note(100, 200 * MIB);
    for (const left of [60, 5, 3]) cost.note(left, 230 * MIB);
    expect(cost.bytes).toBeLessThan(2.5 * MIB);
    for (let i = 0; i < 1_000; i += 1) cost.note(100 - (i % 2), (200 + 4 * i) * MIB); // each takes more and more, and one of them restarts
    expect(cost.bytes / MIB).toBeGreaterThan(40);
  });
  test("is kept as they take it by themselves, and not with what tasks take beside them or have left", () => {
    const dir = folder();
    const cost = new RunCost(dir, "a");
    const kept = (): number => {
      cost.keep();
      return new RunCost(dir, "a").bytes / MIB;
    };
    cost.note(3, 3 * MIB);
    for (const grown of [303, 303]) cost.note(3, grown * MIB, true);
    for (let i = 0; i < 1_000; i += 1) cost.note(3, 303 * MIB); // they are over, and nothing is collected
    expect([cost.bytes / MIB, kept()]).toEqual([101, 4]);
    cost.note(30, 900 * MIB, true);
    for (let i = 0; i < 100; i += 1) cost.note(30, 900 * MIB);
    expect(kept()).toBe(4);
    for (let i = 0; i < 100; i += 1) cost.note(30, 900 * MIB); // a minute later
    expect(kept()).toBeCloseTo(30, 0);
  });
  test("is believed at once beside tasks that never pause", () => {
    const cost = new RunCost(undefined, "a");
    for (let i = 1; i <= 20; i += 1) cost.note(i, 30 * i * MIB, true);
    expect(cost.bytes).toBe(30 * MIB);
  });
  test("is less again by the word of a few where a few have raised it, and is kept so; never less than many have said", () => {
    const dir = folder();
    const cost = new RunCost(dir, "a");
    for (let i = 0; i < 100; i += 1) cost.note(10, 100 * MIB);
    cost.note(3, 303 * MIB); // one of them for a moment
    cost.keep();
    expect(cost.bytes).toBeGreaterThan(70 * MIB);
    for (let i = 0; i < 100; i += 1) cost.note(3, 3 * MIB);
    cost.keep();
    expect([cost.bytes, new RunCost(dir, "a").bytes]).toEqual([10 * MIB, 10 * MIB]);
  });
  test.each(["", "{", "[]", '{"bytesPerObserver":"x"}', '{"bytesPerObserver":-5}', '{"bytesPerObserver":1}'])(
    "is guessed where what was kept is %j",
    (text) => {
      const dir = folder();
      writeFileSync(join(dir, "run-cost-a.json"), text);
      expect(new RunCost(dir, "a").bytes).toBe(DEFAULT_COST_BYTES);
    },
  );
  test("is not kept in a folder that cannot be written, and that harms nobody", () => {
    const cost = new RunCost("/proc/nowhere", "a");
    cost.note(10, 200 * MIB);
    cost.keep();
    expect(cost.bytes).toBe(20 * MIB);
  });
});
