import { type BodyOf, type FlowTaskPage, type FlowTaskView, newUuid } from "@unacked/contracts";
import type { Command } from "commander";
import type { UnackedApi } from "../client/api.ts";
import { usageFailure } from "../failure.ts";
import { parseTimeout } from "../input/duration.ts";
import type { Io } from "../io.ts";
import { auditCommand } from "../output/description.ts";
import { flowGraph } from "../output/flow-graph.ts";
import { flowLine } from "../output/flow-line.ts";
import { ListPrinter } from "../output/list-printer.ts";
import { plainLine } from "../output/plain-text.ts";
import { openSession, type Session } from "../session.ts";
import { untilFlowCompleted } from "./flow-end.ts";
import { type OutputOptions, outputOption } from "./option-sets.ts";
import { readDocuments } from "./read-files.ts";
import { creating, repeatWith } from "./repeatable-create.ts";

type NewFlow = BodyOf<"createFlow">;

interface WaitOptions {
  wait?: boolean;
  timeout: string;
}

interface CreateOptions extends WaitOptions {
  filename?: string;
  name?: string;
  id?: string;
  pool?: string;
}

export function addFlow(program: Command, io: Io): void {
  const flow = program
    .command("flow")
    .summary("create, show, cancel and rerun flows: tasks that wait for each other")
    .description("Flows: tasks that wait for each other, with results passed on. See also: get flows.");
  flow
    .command("create")
    .summary("create a flow from stages or from a document")
    .description(
      "Create a flow from task types that run one after the other, or from a document (YAML or JSON) with its tasks. Either all of it is created, or nothing. With --wait the command fails if the flow fails.",
    )
    .argument("[stages...]", "task types, in order")
    .option("-f, --filename <file>", "a document with name and tasks, or - for standard input")
    .option("--name <name>", "a name for people to read")
    .option("--id <uuid>", "an id of your own: makes the command safe to repeat")
    .option("--pool <pool>", "run all stages in this pool (default: the default pool)")
    .option("-w, --wait", "wait until it is over")
    .option("--timeout <duration>", "how long to wait at most", "5m")
    .action((stages: string[], options: CreateOptions, self: Command) => create(openSession(io, self), stages, options));
  flow
    .command("show")
    .summary("show a flow: how its tasks stand, and what comes after what")
    .argument("<id>", "id of the flow")
    .addOption(outputOption())
    .action((id: string, options: OutputOptions, self: Command) => show(openSession(io, self), id, options));
  flow
    .command("cancel")
    .summary("cancel a whole flow: what waits never runs, what runs is told to end")
    .argument("<id>", "id of the flow")
    .action(async (flowId: string, _options: object, self: Command) => {
      const { api } = openSession(io, self);
      io.out(plainLine(flowLine(await api.call("cancelFlow", { path: { flowId } }))));
    });
  flow
    .command("rerun")
    .summary("run a flow that is over again: from some of its tasks, or from all that did not complete")
    .argument("<id>", "id of the flow")
    .argument("[refs...]", "run these again, and all that come after them")
    .option("-w, --wait", "wait until it is over")
    .option("--timeout <duration>", "how long to wait at most", "5m")
    .action((flowId: string, refs: string[], options: WaitOptions, self: Command) =>
      rerun(openSession(io, self), flowId, refs, options),
    );
}

async function rerun(session: Session, flowId: string, refs: string[], { wait, timeout }: WaitOptions): Promise<void> {
  const { api, io } = session;
  const timeoutMs = parseTimeout(timeout);
  const body = refs.length === 0 ? {} : { from: refs };
  const flow = await api.call("rerunFlow", { path: { flowId }, body });
  const line = plainLine(flowLine(flow));
  if (wait !== true) return io.out(line);
  io.err(line);
  await untilFlowCompleted(session, flow, timeoutMs);
}

async function create(session: Session, stages: string[], options: CreateOptions): Promise<void> {
  const { api, io } = session;
  const timeoutMs = parseTimeout(options.timeout);
  const flow = toFlow(io, stages, options);
  const created = await creating(session, repeatWith(flow.id), (signal) =>
    api.call("createFlow", { body: flow }, { about: "the flow", signal }),
  );
  const how = created.outcome === "created" ? "" : ` (${created.outcome})`;
  const line = plainLine(`${flowLine(created)}${how}`);
  if (options.wait !== true) return io.out(line);
  io.err(line); // the id is told before the wait, so that the flow can be found however the wait ends
  await untilFlowCompleted(session, created, timeoutMs);
}

/** The flow always has an id, so that the call can be repeated when nobody answers. */
function toFlow(io: Io, stages: string[], { filename, name, id, pool }: CreateOptions): NewFlow & { id: string } {
  if ((filename === undefined) === (stages.length === 0))
    throw usageFailure("Give either stages or -f", "unacked flow create fetch parse store");
  if (filename !== undefined && pool !== undefined)
    throw usageFailure("--pool is for stages", "In a document each task has its own pool.");
  const own = { ...(name !== undefined && { name }), ...(id !== undefined && { id }) };
  const inPool = pool === undefined ? stages : stages.map((type) => ({ type, pool }));
  if (filename === undefined) return { stages: inPool, id: newUuid(), ...own };
  const [document, ...others] = readDocuments(io, filename);
  if (document === undefined || others.length > 0)
    throw usageFailure(`${filename} must have exactly one document, which is a flow`);
  if (typeof document.value !== "object" || document.value === null)
    throw usageFailure(`${document.place} is not a flow`, "A flow has tasks, or stages.");
  return { id: newUuid(), ...document.value, ...own } as NewFlow & { id: string }; // the manager checks it, and says what is wrong
}

async function show({ api, io, print }: Session, flowId: string, { output }: OutputOptions): Promise<void> {
  const flow = await api.call("getFlow", { path: { flowId } });
  const { listing, rows } = flowGraph(await tasksOf(api, flowId));
  const printer = new ListPrinter(listing, print(output));
  if (output === "table" || output === "wide") {
    io.out(plainLine(flowLine(flow)));
    io.out(`${plainLine(`Who did what: ${auditCommand(flow.id)} (for admins)`)}\n`);
  }
  io.out(printer.rows(rows) + printer.end());
}

async function tasksOf(api: UnackedApi, flowId: string): Promise<FlowTaskView[]> {
  const tasks: FlowTaskView[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { limit: 1_000, ...(cursor !== undefined && { cursor }) };
    const page: FlowTaskPage = await api.call("listFlowTasks", { path: { flowId }, query });
    tasks.push(...page.items);
    cursor = page.nextCursor;
  }
  return tasks;
}
