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
  /** The traces of the calls that they come from, each once; of most none. */
  traces: readonly string[];
} & (
  | { kind: "start"; start: Omit<StartObserver, "messageId"> }
  | { kind: "to-all"; message: ControlMessage }
  | { kind: "to-one"; serviceId: ServiceId; generation: number; message: ControlMessage }
);

/** Keeps a control message of full targets under 256 KiB. */
const MAX_TARGETS = 1_000;

type Addressed = Extract<DueCommand, { serviceId: ServiceId }>;

/** Starts travel alone (a message is a job); stops together to all; what concerns one generation together to that one. */
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
  for (const commands of addressed.values()) for (const chunk of chunks(commands)) groups.push(toOne(chunk));
  return groups;
}

/** There is one for a generation. */
function proofOf(commands: Addressed[]): { proof?: InventoryProof } {
  const [proof] = commands.flatMap((command) => (command.kind === "report-inventory" && command.proof) || []);
  return proof === undefined ? {} : { proof };
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
      return { kind: "Drain" };
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

function chunks<T>(items: T[]): T[][] {
  const parts: T[][] = [];
  for (let start = 0; start < items.length; start += MAX_TARGETS) parts.push(items.slice(start, start + MAX_TARGETS));
  return parts;
}
