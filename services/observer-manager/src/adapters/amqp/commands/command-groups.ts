import {
  type ControlMessage,
  generationKey,
  type InventoryProof,
  type ServiceId,
  type StartObserver,
} from "@unacked/contracts";
import type { DueCommand } from "../../../operations/commands/command-store.ts";

/** Commands that travel in one message. */
export type CommandGroup = {
  ids: string[];
  /** The traces of the calls that they come from, each once; mostly there are none. */
  traces: readonly string[];
} & (
  | { kind: "start"; start: Omit<StartObserver, "messageId"> }
  | { kind: "to-all"; message: ControlMessage }
  | { kind: "to-one"; serviceId: ServiceId; generation: number; message: ControlMessage }
);

/** The bound for admissions and updates, which carry data of clients. */
const MAX_BYTES = 262_144;

/** Keeps a control message of full targets under 256 KiB. */
const MAX_TARGETS = 1_000;

type Addressed = Extract<DueCommand, { serviceId: ServiceId }>;

/** Starts travel alone (a message is a job), stops together to all, and commands for one generation together to that one. */
export function groupCommands(due: DueCommand[]): CommandGroup[] {
  const groups: CommandGroup[] = [];
  const stops: Extract<DueCommand, { kind: "stop" }>[] = [];
  const addressed = new Map<string, Addressed[]>();
  for (const command of due) {
    if (command.kind === "start") {
      const { id, start, traceContext } = command;
      if (start) groups.push({ kind: "start", ids: [id], traces: traceContext ? [traceContext] : NO_TRACES, start });
    } else if (command.kind === "stop") {
      stops.push(command);
    } else {
      const key = `${command.kind} ${generationKey(command.serviceId, command.generation)}`;
      const same = addressed.get(key);
      if (same) same.push(command);
      else addressed.set(key, [command]);
    }
  }
  for (const chunk of chunks(stops))
    groups.push({ kind: "to-all", ids: idsOf(chunk), traces: tracesOf(chunk), message: stopObservers(chunk) });
  for (const commands of addressed.values())
    for (const chunk of chunks(commands)) for (const part of byBytes(chunk)) groups.push(toOne(part));
  return groups;
}

/** A generation has one inventory command, so at most one proof. */
function proofOf(commands: Addressed[]): { proof?: InventoryProof } {
  const [proof] = commands.flatMap((command) => (command.kind === "report-inventory" && command.proof) || []);
  return proof === undefined ? {} : { proof };
}

/** A generation has one reload command. */
const reloadIdOf = (commands: Addressed[]): string =>
  commands.flatMap((command) => (command.kind === "reload" ? command.reloadId : []))[0] as string;

/** A generation has one command of each kind that has a time. */
function sentAtOf([command]: Addressed[]): { sentAtMs?: number } {
  const sentAtMs = command?.sentAtMs;
  return sentAtMs == null ? {} : { sentAtMs };
}

function stopObservers(stops: Extract<DueCommand, { kind: "stop" }>[]): ControlMessage {
  return { kind: "StopObservers", targets: stops.map(({ observerId, revision }) => ({ observerId, revision })) };
}

function toOne(commands: Addressed[]): CommandGroup {
  const [first] = commands as [Addressed];
  const { serviceId, generation } = first;
  const message = messageOf(first.kind, commands);
  return { kind: "to-one", ids: idsOf(commands), traces: tracesOf(commands), serviceId, generation, message };
}

function messageOf(kind: Addressed["kind"], commands: Addressed[]): ControlMessage {
  switch (kind) {
    case "stop-run":
      return {
        kind: "StopRuns",
        targets: commands.flatMap((command) => {
          if (command.kind !== "stop-run") return [];
          const { observerId, runId, messageId, revision, reason } = command;
          return [{ observerId, runId, messageId, revision, reason }];
        }),
      };
    case "admit":
      return {
        kind: "Admit",
        targets: commands.flatMap((command) => {
          if (command.kind !== "admit") return [];
          const { observerId, runId, messageId, revision, admission } = command;
          if (admission === null || admission === "later") return [];
          return [{ observerId, runId, messageId, revision, ...admission }];
        }),
      };
    case "tell-checkpoint":
      return {
        kind: "TellCheckpoints",
        targets: commands.flatMap((command) => {
          if (command.kind !== "tell-checkpoint") return [];
          const { observerId, runId, messageId, revision } = command;
          return [{ observerId, runId, messageId, revision }];
        }),
      };
    case "update-run":
      return {
        kind: "UpdateRuns",
        targets: commands.flatMap((command) => {
          if (command.kind !== "update-run") return [];
          const { observerId, runId, messageId, revision, spec } = command;
          return spec === null || spec === "later" ? [] : [{ observerId, runId, messageId, revision, spec }];
        }),
      };
    case "move-run":
      return {
        kind: "ShedRuns",
        targets: commands.flatMap((command) => {
          if (command.kind !== "move-run") return [];
          const { observerId, runId, messageId, revision } = command;
          return [{ observerId, runId, messageId, revision }];
        }),
      };
    case "restart-run":
      return {
        kind: "RestartRuns",
        targets: commands.flatMap((command) =>
          command.kind === "restart-run" ? [{ observerId: command.observerId, runId: command.runId }] : [],
        ),
      };
    case "report-inventory":
      return { kind: "ReportInventory", ...proofOf(commands) };
    case "probe":
      return { kind: "Probe" };
    case "drain":
      return { kind: "Drain", ...sentAtOf(commands) };
    case "cordon":
      return { kind: "Cordon", ...sentAtOf(commands) };
    case "uncordon":
      return { kind: "Uncordon", ...sentAtOf(commands) };
    case "step-aside":
      return { kind: "StepAside" };
    case "reload":
      return { kind: "Reload", reloadId: reloadIdOf(commands) };
    default:
      return kind satisfies never;
  }
}

const NO_TRACES: readonly string[] = [];

const tracesOf = (commands: DueCommand[]): readonly string[] =>
  commands.some(({ traceContext }) => traceContext)
    ? [...new Set(commands.flatMap(({ traceContext }) => traceContext ?? []))]
    : NO_TRACES;

const idsOf = (commands: DueCommand[]): string[] => commands.map((command) => command.id);

function bytesOf(command: Addressed): number {
  if (command.kind === "admit") return Buffer.byteLength(JSON.stringify(command.admission));
  return command.kind === "update-run" ? Buffer.byteLength(JSON.stringify(command.spec)) : 0;
}

/** Splits admissions and updates into messages of 256 KiB, or one that is larger. Others stay as they are. */
function byBytes(commands: Addressed[]): Addressed[][] {
  const parts: Addressed[][] = [];
  let left = 0;
  for (const command of commands) {
    const bytes = bytesOf(command);
    left -= bytes;
    const part = parts.at(-1);
    if (part !== undefined && left >= 0) part.push(command);
    else {
      parts.push([command]);
      left = MAX_BYTES - bytes;
    }
  }
  return parts;
}

function chunks<T>(items: T[]): T[][] {
  const parts: T[][] = [];
  for (let start = 0; start < items.length; start += MAX_TARGETS) parts.push(items.slice(start, start + MAX_TARGETS));
  return parts;
}
