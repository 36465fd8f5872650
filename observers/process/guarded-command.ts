import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { jsonLine } from "./json-line.ts";

export type CommandSpec = {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the command. */
  readonly env: Readonly<Record<string, string>>;
  /** Working directory; the service's own if left out. */
  readonly cwd: string | undefined;
  /** Time between SIGTERM and SIGKILL. */
  readonly stopTimeoutMs: number;
  /** A folder that is removed when this process is gone and cannot do so. */
  readonly folder: string | undefined;
  /** The group is killed when this process gives no sign of life for so long. */
  readonly silenceTimeoutMs: number;
  /** Whether it reads what is written to `stdin`; without, it reads nothing. */
  readonly hasInput: boolean;
};

export type CommandExit =
  | { readonly kind: "exited"; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: "not-started"; readonly message: string }
  /** The guardian died first (somebody killed it); the group was killed from here. */
  | { readonly kind: "guardian-lost" };

export type GuardedCommand = {
  /** The command's own, with `hasInput`. What is written behind its end goes nowhere. */
  readonly stdin: Writable | undefined;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** SIGTERM to the group, SIGKILL after `stopTimeoutMs`. */
  stop(): void;
  /** SIGKILL to the group at once. */
  kill(): void;
  /** Resolves when the command is over and nobody of its group is left; never rejects. */
  readonly exited: Promise<CommandExit>;
};

type GuardianReport =
  | { readonly event: "started"; readonly pid: number }
  | { readonly event: "not-started"; readonly message: string }
  | { readonly event: "exited"; readonly code: number | null; readonly signal: string | null };

/** Beside the sources as beside the built files. */
const guardianPath = fileURLToPath(new URL("./guardian.mjs", import.meta.url));
/** It does nearly nothing: a heap of its own size keeps a guardian small. */
const guardianFlags = ["--max-old-space-size=16", "--max-semi-space-size=1"];
/** What an escaped grandchild keeps open is read for so long after the end, then let go. */
const outputGraceMs = 1_000;

/**
 * Starts a command below a guardian process (see `guardian.mjs`), so that its process group dies with this process whatever
 * way that goes. If only the guardian is killed, the group is killed from here.
 */
export function startGuardedCommand(spec: CommandSpec): GuardedCommand {
  // A group of its own for the guardian too: a Ctrl-C or a kill for the service's group must not reach it.
  const guardian = spawn(process.execPath, [...guardianFlags, guardianPath], {
    detached: true,
    env: {},
    stdio: ["pipe", "pipe", "pipe", "pipe", spec.hasInput ? "pipe" : "ignore"],
  });
  const { stdin: orders, stdout, stderr } = guardian as ChildProcessByStdio<Writable, Readable, Readable>;
  const reports = guardian.stdio[3] as Readable;
  const stdin = (guardian.stdio[4] as Writable | null) ?? undefined;
  const order = (body: object) => {
    if (orders.writable) orders.write(jsonLine(body));
  };
  // A guardian that is gone is noticed by its exit; the pipe to it has nothing to add.
  orders.on("error", () => orders.destroy());
  stdin?.on("error", () => stdin.destroy());

  order(spec);
  const alive = setInterval(() => order({ do: "alive" }), spec.silenceTimeoutMs / 5);
  const exited = commandExit(guardian, reports).finally(() => {
    clearInterval(alive);
    orders.destroy();
    stdin?.destroy();
    letGo(stdout);
    letGo(stderr);
  });
  return {
    stdin,
    stdout,
    stderr,
    stop: () => order({ do: "stop" }),
    kill: () => order({ do: "kill" }),
    exited,
  };
}

async function commandExit(guardian: ChildProcess, reports: Readable): Promise<CommandExit> {
  const failed = new Promise<string>((resolve) => {
    guardian.once("error", (error) => resolve(error.message));
  });
  const told = readReports(reports);
  const startFailure = await Promise.race([failed, told.then(() => undefined)]);
  if (startFailure !== undefined) return { kind: "not-started", message: `guardian: ${startFailure}` };
  const { pid, end } = await told;
  if (end !== undefined) return end;
  if (pid !== undefined) killGroup(pid);
  return { kind: "guardian-lost" };
}

/** Reads until the guardian's end of the pipe closes, which it does with the guardian. */
async function readReports(reports: Readable): Promise<{ pid?: number; end?: CommandExit }> {
  let text = "";
  reports.setEncoding("utf8");
  reports.on("data", (piece: string) => {
    text += piece;
  });
  await new Promise<void>((resolve) => reports.once("close", resolve).on("error", () => resolve()));
  const read: { pid?: number; end?: CommandExit } = {};
  for (const line of text.split("\n").slice(0, -1)) {
    const report = JSON.parse(line) as GuardianReport;
    if (report.event === "started") read.pid = report.pid;
    else if (report.event === "exited") read.end = { kind: "exited", code: report.code, signal: report.signal };
    else read.end = { kind: "not-started", message: report.message };
  }
  return read;
}

function killGroup(groupId: number): void {
  try {
    process.kill(-groupId, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Ends a stream that should have ended, once what it still holds has been read. */
function letGo(output: Readable): void {
  if (output.closed) return;
  const timer = setInterval(() => {
    if (output.readableLength === 0) output.destroy();
  }, outputGraceMs);
  output.once("close", () => clearInterval(timer));
}
