import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { holdOnLeash } from "../../../scripts/processes/leash.mjs";

/** The repository's root, without a slash at the end. */
export const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");

export interface RunningProcess {
  readonly name: string;
  /** Of the `node` process itself: nothing stands between. */
  readonly pid: number;
  /** Every line of standard output and standard error so far, in the order they came. */
  readonly lines: readonly string[];
  /** Resolves when it ended, by itself or not. */
  readonly exited: Promise<Exit>;
  /** What `exited` resolves to, null while it runs. */
  exit(): Exit | null;
  /** A line for which `predicate` holds, already written or still to come. Fails when the process ends without it. */
  waitForLine(predicate: (line: string) => boolean, options?: { timeoutMs?: number; what?: string }): Promise<string>;
  /** The first log line in JSON whose `event` is this one, decoded. */
  waitForEvent(event: string, options?: { timeoutMs?: number }): Promise<Record<string, unknown>>;
  /** Sends the signal (SIGKILL if none is named) and resolves when the process ended; SIGSTOP and SIGCONT resolve at once. */
  kill(signal?: NodeJS.Signals): Promise<Exit | null>;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

const endedAtMs = new WeakMap<Exit, number>();

export interface ProcessOptions {
  /** The JavaScript file to run, from the repository's root or absolute. */
  file: string;
  args?: string[];
  /** Added to this process's own environment; `undefined` takes a variable away. */
  env?: Record<string, string | undefined>;
  cwd?: string;
  /** What it is called in errors; the file if missing. */
  name?: string;
  /** A command that runs what it is given: `unshare`, an init. `pid` is that of the command. */
  below?: readonly string[];
}

const started: RunningProcess[] = [];

/**
 * At the end of a file: a process that is still alive was forgotten by the test. It is killed so that it cannot disturb the
 * next file, and named so that it is not forgotten twice.
 */
export async function killForgotten(): Promise<void> {
  const forgotten = started.splice(0).filter((each) => each.exit() === null);
  await Promise.all(forgotten.map((each) => each.kill("SIGKILL")));
  if (forgotten.length > 0) {
    console.warn(
      `Killed at the end of the file, as still running: ${forgotten.map((each) => `${each.name} (${each.pid})`).join(", ")}`,
    );
  }
}

const TOLD_LINES = 15;

/**
 * After a test that failed: what each process that ran in it has written last, so that nobody has to run it again to know why.
 *
 * @param sinceMs when the test began, in ms since the epoch
 */
export function tellLastLines(sinceMs: number): void {
  for (const { name, pid, lines, exit } of started) {
    const ended = exit();
    if (ended !== null && (endedAtMs.get(ended) ?? 0) < sinceMs) continue;
    const how = ended === null ? "running" : `ended by ${ended.signal ?? `exit code ${ended.code}`}`;
    console.error(`${name} (${pid}, ${how}) wrote last:\n  ${lines.slice(-TOLD_LINES).map(cut).join("\n  ")}`);
  }
}

const cut = (line: string): string => (line.length > 600 ? `${line.slice(0, 600)}…` : line);

/** Starts `node <file>` in a process group of its own. It does not outlive the test run, even if that is killed. */
export function startProcess(options: ProcessOptions): RunningProcess {
  const { file, args = [], env = {}, cwd = ROOT, name = file, below = [] } = options;
  const [program, ...words] = [...below, process.execPath, file, ...args];
  const child = spawn(program ?? process.execPath, words, {
    cwd,
    env: withoutUndefined({ ...process.env, ...env }),
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  holdOnLeash(child);
  const output = collectLines([child.stdout, child.stderr]);
  let exit: Exit | null = null;
  // 'close' rather than 'exit': by then every line has been read.
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      exit = { code, signal };
      endedAtMs.set(exit, Date.now());
      resolve(exit);
    });
  });
  exited.then(output.end, output.end);

  const running: RunningProcess = {
    name,
    pid: child.pid ?? -1,
    lines: output.lines,
    exited,
    exit: () => exit,
    waitForLine: (predicate, { timeoutMs = 60_000, what = "the line waited for" } = {}) =>
      output.waitFor(predicate, timeoutMs, `${name}: ${what}`),
    waitForEvent: async (event, { timeoutMs = 60_000 } = {}) => {
      const line = await output.waitFor(
        (each) => decoded(each)?.event === event,
        timeoutMs,
        `${name}: a line with event "${event}"`,
      );
      return decoded(line) ?? {};
    },
    kill: async (signal = "SIGKILL") => {
      child.kill(signal);
      return signal === "SIGSTOP" || signal === "SIGCONT" ? null : exited;
    },
  };
  started.push(running);
  return running;
}

function collectLines(streams: NodeJS.ReadableStream[]) {
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  let ended = false;
  const wake = () => {
    for (const each of [...waiting]) each();
  };
  for (const stream of streams) {
    createInterface({ input: stream }).on("line", (line) => {
      lines.push(line);
      wake();
    });
  }

  function waitFor(predicate: (line: string) => boolean, timeoutMs: number, what: string): Promise<string> {
    return new Promise((resolve, reject) => {
      let next = 0;
      const settle = (act: () => void) => {
        waiting.delete(look);
        clearTimeout(timer);
        act();
      };
      const fail = (why: string) =>
        settle(() => reject(new Error(`${what} ${why}. Its last lines:\n  ${lines.slice(-15).join("\n  ")}`)));
      const look = () => {
        for (; next < lines.length; next += 1) {
          const line = lines[next] as string;
          if (predicate(line)) return settle(() => resolve(line));
        }
        if (ended) fail("was never written; the process has ended");
      };
      const timer = setTimeout(() => fail(`was not written within ${timeoutMs} ms`), timeoutMs);
      waiting.add(look);
      look();
    });
  }

  return {
    lines,
    waitFor,
    end: () => {
      ended = true;
      wake();
    },
  };
}

function decoded(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined; // a line that only begins like JSON
  }
}

function withoutUndefined(env: Record<string, string | undefined>): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
}
