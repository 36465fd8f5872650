import { describe, expect, test } from "vitest";
import { autoSlotCount } from "../../../services/observer-service/src/keeper/slots/supply/slot-settings.ts";
import { cgroupLimits } from "../../../services/observer-service/src/machine/cgroup-limits.ts";
import { autoWorkerCount } from "../../../services/observer-service/src/machine/worker-count.ts";

const GIB = 2 ** 30;
const files = (content: Record<string, string>) => (path: string) => content[path];

describe("the limits of a container", () => {
  test("are read from version 2, the tightest of all groups around", () => {
    const read = files({
      "/proc/self/cgroup": "0::/kubepods/pod1\n",
      "/sys/fs/cgroup/kubepods/cpu.max": "200000 100000\n",
      "/sys/fs/cgroup/kubepods/pod1/cpu.max": "50000 100000\n",
      "/sys/fs/cgroup/kubepods/memory.max": "1073741824\n",
      "/sys/fs/cgroup/kubepods/pod1/memory.max": "max\n",
    });
    expect(cgroupLimits(read)).toEqual({ cores: 0.5, memoryBytes: GIB });
  });
  test("are read at the root when the path is the host's", () => {
    const read = files({
      "/proc/self/cgroup": "0::/../../elsewhere\n",
      "/sys/fs/cgroup/cpu.max": "150000 100000",
      "/sys/fs/cgroup/memory.max": "5",
    });
    expect(cgroupLimits(read)).toEqual({ cores: 1.5, memoryBytes: 5 });
  });
  test("are read from version 1, where unlimited is a huge number and -1", () => {
    const read = (quota: string, bytes: string) =>
      files({
        "/proc/self/cgroup": "4:memory:/a\n3:cpu,cpuacct:/a\n",
        "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": quota,
        "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "100000",
        "/sys/fs/cgroup/memory/a/memory.limit_in_bytes": bytes,
      });
    expect(cgroupLimits(read("300000\n", "1073741824\n"))).toEqual({ cores: 3, memoryBytes: GIB });
    expect(cgroupLimits(read("-1\n", "9223372036854771712\n"))).toEqual({ cores: undefined, memoryBytes: undefined });
  });
  test("are none where there are no files", () => {
    expect(cgroupLimits(() => undefined)).toEqual({ cores: undefined, memoryBytes: undefined });
  });
});

describe("WORKER_COUNT=auto", () => {
  test.each([
    [{ cores: 2, memoryBytes: 16 * GIB }, 2, 200],
    [{ cores: 0.5, memoryBytes: 16 * GIB }, 2, 50],
    [{ cores: 8, memoryBytes: GIB }, 0, 224],
    [{ cores: 8, memoryBytes: GIB }, 6, 168],
    [{ cores: 2, memoryBytes: GIB / 2 }, 2, 72],
    [{ cores: 0.001, memoryBytes: 1 }, 2, 1],
    [{ cores: 10_000, memoryBytes: 10_000 * GIB }, 256, 65_535],
  ])("of %j with %i slots is %i", (capacity, slots, workers) => {
    expect(autoWorkerCount(capacity, slots)).toBe(workers);
  });
});

describe("SLOTS=auto", () => {
  test.each([
    [{ cores: 8, memoryBytes: 16 * GIB }, 8],
    [{ cores: 64, memoryBytes: GIB / 2 }, 2],
    [{ cores: 64, memoryBytes: GIB }, 6],
    [{ cores: 0.5, memoryBytes: GIB / 8 }, 2],
  ])("of %j is %i", (capacity, slots) => {
    expect(autoSlotCount(capacity)).toBe(slots);
  });
});
