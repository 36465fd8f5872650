import { readdirSync, readFileSync } from "node:fs";

/** What Linux says of a process. Elsewhere there is no /proc, and these throw. */

const MS_PER_TICK = 10; // USER_HZ is 100 on every Linux that Node runs on

/** CPU time that a process has used so far, in ms. @param {number} pid */
export function cpuMs(pid) {
  const fields = statFields(pid);
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

/** Of a process and its children, those that have ended too: PostgreSQL has one process a connection. @param {number} pid */
export function cpuMsWithChildren(pid) {
  const fields = statFields(pid);
  const endedMs = (Number(fields[13]) + Number(fields[14])) * MS_PER_TICK;
  return cpuMs(pid) + endedMs + childrenOf(pid).reduce((sum, child) => sum + cpuMsOrNone(child), 0);
}

/** Proportional set size in bytes: memory that several processes share counts in part. @param {number} pid */
export function pssBytes(pid) {
  const [, kilobytes] = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")) ?? [];
  return Number(kilobytes) * 1_024;
}

/** Of a service with its slots. @param {number} pid */
export const pssBytesWithChildren = (pid) => [pid, ...childrenOf(pid)].reduce((sum, each) => sum + pssBytes(each), 0);

/** @param {number} pid */
function childrenOf(pid) {
  const pids = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  return pids.filter((candidate) => {
    try {
      return Number(statFields(candidate)[1]) === pid;
    } catch {
      return false; // gone meanwhile
    }
  });
}

/** @param {number} pid */
function cpuMsOrNone(pid) {
  try {
    return cpuMs(pid);
  } catch {
    return 0; // gone meanwhile
  }
}

/** From the state on: the name before it may hold spaces and brackets. @param {number} pid */
function statFields(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}
