import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { eventually } from "../eventually.ts";
import { ROOT } from "./processes.ts";

export interface MemoryGroup {
  /** For a service that is to live in it, with its slots. */
  readonly env: Record<string, string>;
  usedBytes(): number;
  /** How many processes of it the kernel has ended for want of memory. */
  oomKills(): number;
  /** When all that lived in it has ended. */
  close(): Promise<void>;
}

/** A control group of this process's own with a limit, of version 1 or 2; undefined where none may be made: it takes root. */
export function memoryGroup(limitBytes: number): MemoryGroup | undefined {
  const name = `unacked-${process.pid}-${Math.random().toString(36).slice(2)}`;
  const own = readFileSync("/proc/self/cgroup", "utf8").split("\n");
  const path = (pattern: RegExp) => own.map((line) => pattern.exec(line)?.[1]).find((found) => found !== undefined) ?? "";
  return (
    made(`/sys/fs/cgroup/memory${path(/^\d+:memory:(.+)$/)}/${name}`, limitBytes, {
      limit: "memory.limit_in_bytes",
      used: "memory.usage_in_bytes",
      events: "memory.oom_control",
    }) ??
    made(`/sys/fs/cgroup/${name}`, limitBytes, { limit: "memory.max", used: "memory.current", events: "memory.events" })
  );
}

function made(
  dir: string,
  limitBytes: number,
  files: { limit: string; used: string; events: string },
): MemoryGroup | undefined {
  try {
    mkdirSync(dir);
    writeFileSync(`${dir}/${files.limit}`, String(limitBytes));
  } catch {
    return undefined;
  }
  const read = (file: string) => readFileSync(`${dir}/${file}`, "utf8");
  return {
    env: {
      TEST_GROUP: dir,
      NODE_OPTIONS: `--import=${pathToFileURL(`${ROOT}/test/fixtures/join-group.mjs`).href}`,
      SLOT_NODE_OPTIONS: "--no-warnings",
    },
    usedBytes: () => Number(read(files.used)),
    oomKills: () => Number(/^oom_kill (\d+)$/m.exec(read(files.events))?.[1]),
    close: () => eventually(() => rmdirSync(dir), { what: "the end of all that lived in a control group" }),
  };
}
