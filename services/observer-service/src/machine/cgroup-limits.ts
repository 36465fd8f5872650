import type { ReadText } from "./read-text.ts";

/** What a container may use, read from the files of Linux control groups: Node sees neither a CPU quota nor (reliably) a memory limit. */
export interface CgroupLimits {
  /** CPU quota in cores, fractions included. `undefined` means none. */
  readonly cores: number | undefined;
  /** `undefined` means none. */
  readonly memoryBytes: number | undefined;
}

// v1 says "unlimited" by a number near 2^63, rounded down to a page.
const V1_UNLIMITED_BYTES = 2 ** 60;

/** The tightest limits of this process's group and of all groups around it; version 2, else version 1. */
export function cgroupLimits(read: ReadText): CgroupLimits {
  return {
    cores: least([
      ...foldersV2(read).map((dir) => quotaV2(read(`${dir}/cpu.max`))),
      ...foldersV1(read, "cpu").map((dir) => quotaV1(read(`${dir}/cpu.cfs_quota_us`), read(`${dir}/cpu.cfs_period_us`))),
    ]),
    memoryBytes: least(memoryGroups(read).map(({ limitBytes }) => limitBytes)),
  };
}

/** For each of these groups with a limit: how much is in use, without cached files that can be dropped. */
export const limitedMemory = (read: ReadText): { usedBytes: number; limitBytes: number }[] =>
  memoryGroups(read).map(({ limitBytes, used, stat, droppable }) => ({
    limitBytes,
    usedBytes: Math.max(0, (positive(read(used)) ?? 0) - inactiveFileBytes(read(stat), droppable)),
  }));

interface MemoryGroup {
  limitBytes: number;
  used: string;
  stat: string;
  droppable: string;
}

function memoryGroups(read: ReadText): MemoryGroup[] {
  const v2 = foldersV2(read).map((dir) => ({
    limitBytes: positive(read(`${dir}/memory.max`)),
    droppable: "inactive_file",
    used: `${dir}/memory.current`,
    stat: `${dir}/memory.stat`,
  }));
  const v1 = foldersV1(read, "memory").map((dir) => ({
    limitBytes: bytesV1(read(`${dir}/memory.limit_in_bytes`)),
    droppable: "total_inactive_file",
    used: `${dir}/memory.usage_in_bytes`,
    stat: `${dir}/memory.stat`,
  }));
  return [...v2, ...v1].flatMap(({ limitBytes, ...group }) => (limitBytes === undefined ? [] : { ...group, limitBytes }));
}

const inactiveFileBytes = (stat: string | undefined, name: string): number =>
  Number(new RegExp(`^${name} (\\d+)$`, "m").exec(stat ?? "")?.[1] ?? 0);

const ownGroups = (read: ReadText): string[][] =>
  (read("/proc/self/cgroup") ?? "").split("\n").map((line) => line.split(":"));

const foldersV2 = (read: ReadText): string[] => folders("/sys/fs/cgroup", ownGroups(read).find(([id]) => id === "0")?.[2]);

const foldersV1 = (read: ReadText, controller: string): string[] =>
  folders(`/sys/fs/cgroup/${controller}`, ownGroups(read).find(([, names]) => names?.split(",").includes(controller))?.[2]);

/**
 * The folders of a group and of those around it. In a container the path is often the host's, but then the root is the
 * group.
 */
function folders(root: string, path = "/"): string[] {
  const parts = path.split("/").filter((part) => part !== "" && part !== "..");
  return [root, ...parts.map((_, index) => `${root}/${parts.slice(0, index + 1).join("/")}`)];
}

function quotaV2(content: string | undefined): number | undefined {
  const [quota, period] = (content ?? "").trim().split(/\s+/);
  return quotaV1(quota, period);
}

function quotaV1(quota: string | undefined, period: string | undefined): number | undefined {
  const [quotaUs, periodUs] = [positive(quota), positive(period)];
  return quotaUs === undefined || periodUs === undefined ? undefined : quotaUs / periodUs;
}

function bytesV1(content: string | undefined): number | undefined {
  const bytes = positive(content);
  return bytes !== undefined && bytes < V1_UNLIMITED_BYTES ? bytes : undefined;
}

/** `max` and -1 mean no limit. */
function positive(content: string | undefined): number | undefined {
  const value = Number(content?.trim() || Number.NaN);
  return value > 0 ? value : undefined;
}

function least(values: (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
