import { readdirSync, readFileSync } from "node:fs";

/** The pids of a process's children, as the kernel has them; the oldest first, unless pids have started over. */
export function childrenOf(pid: number): number[] {
  return processes()
    .filter(({ parent }) => parent === pid)
    .map((each) => each.pid);
}

/** Of the children of a service's process, those that run handlers. */
export function slotsOf(keeperPid: number): number[] {
  return childrenOf(keeperPid).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("slot/main");
    } catch {
      return false;
    }
  });
}

/** The pids of all in these process groups that are neither gone nor zombies. */
export function membersOf(groups: readonly number[]): number[] {
  return processes()
    .filter(({ group, state }) => groups.includes(group) && state !== "Z")
    .map((each) => each.pid);
}

/** What a process calls itself, in its own namespace of pids. */
export function ownPid(pid: number): number {
  const [, names = ""] = /^NSpid:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1")) ?? [];
  return Number(names.split(/\s+/).at(-1));
}

/** By pid. */
function processes(): { pid: number; state: string; parent: number; group: number }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        // "pid (name) state parent group …"; the name may hold anything, a closing bracket too.
        const [state = "", parent, group] = readFileSync(`/proc/${name}/stat`, "latin1")
          .replace(/^.*\) /s, "")
          .split(" ");
        return [{ pid: Number(name), state, parent: Number(parent), group: Number(group) }];
      } catch {
        return []; // it has just gone
      }
    })
    .toSorted((a, b) => a.pid - b.pid);
}

/** Neither gone nor a zombie. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
  } catch {
    return false;
  }
}
