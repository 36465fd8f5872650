/** What a container may use, read from the files of Linux control groups: Node sees neither a CPU quota nor (reliably) a memory limit. */
export interface CgroupLimits {
  /** CPU quota in cores, fractions included; `undefined`: none. */
  readonly cores: number | undefined;
  /** `undefined`: none. */
  readonly memoryBytes: number | undefined;
}

/** The content of a file, `undefined` if it cannot be read. */
export type ReadText = (path: string) => string | undefined;

// v1 says "unlimited" by a number near 2^63, rounded down to a page.
const V1_UNLIMITED_BYTES = 2 ** 60;

/** The tightest limits of this process's group and of all groups around it; version 2, else version 1. */
export function cgroupLimits(read: ReadText): CgroupLimits {
  const groups = (read("/proc/self/cgroup") ?? "").split("\n").map((line) => line.split(":"));
  const v2 = folders("/sys/fs/cgroup", groups.find(([id]) => id === "0")?.[2]);
  const v1 = (controller: string) =>
    folders(`/sys/fs/cgroup/${controller}`, groups.find(([, names]) => names?.split(",").includes(controller))?.[2]);

  return {
    cores: least([
      ...v2.map((dir) => quotaV2(read(`${dir}/cpu.max`))),
      ...v1("cpu").map((dir) => quotaV1(read(`${dir}/cpu.cfs_quota_us`), read(`${dir}/cpu.cfs_period_us`))),
    ]),
    memoryBytes: least([
      ...v2.map((dir) => positive(read(`${dir}/memory.max`))),
      ...v1("memory").map((dir) => bytesV1(read(`${dir}/memory.limit_in_bytes`))),
    ]),
  };
}

/** A group's folder and those around it. In a container the path is often the host's, but then the root is the group. */
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
