import { type ObserverView, traitsOf } from "@unacked/contracts";
import type { Command } from "commander";
import { asRefusal, CliFailure, usageFailure } from "../failure.ts";
import { findKind } from "../input/kinds.ts";
import type { Io } from "../io.ts";
import { describeObserver, describeService, describeTask } from "../output/description.ts";
import { failureText } from "../report.ts";
import { openSession, type Session } from "../session.ts";
import { findService } from "./find-service.ts";

/** Of a service: it may run hundreds at once, and all of them anew a second later. */
const MAX_TASKS = 20;

export function addDescribe(program: Command, io: Io): void {
  program
    .command("describe")
    .summary("all that is known of one observer, service or task")
    .description(
      "Show all that is known of an observer (its runs, params and last error), of a service and what it runs, or of a task.",
    )
    .argument("<name...>", "NAME, or: observer NAME, service NAME, task ID")
    .action((words: string[], _options: object, self: Command) => describe(openSession(io, self), words));
}

/** Describes each name in order. A name that is not found does not hide the others, and fails the command. */
async function describe(session: Session, words: string[]): Promise<void> {
  const { io } = session;
  const [kind, ...names] = kindAndNames(words);
  let told = 0;
  for (const name of names) {
    const text = await DESCRIBED[kind](session, name).catch(asRefusal);
    if (!(text instanceof CliFailure)) io.out(told++ === 0 ? text : `\n${text}`);
    else if (names.length === 1) throw text;
    else io.err(failureText(text));
  }
  if (told < names.length) throw new CliFailure("failed", `${names.length - told} of ${names.length} were not found`);
}

function kindAndNames(words: string[]): [keyof typeof DESCRIBED, ...string[]] {
  const [first = "", ...rest] = words;
  const kind = findKind(first);
  if (kind === "observers" || kind === "services" || kind === "tasks") {
    if (rest.length > 0) return [kind, ...rest];
    const remedy = `unacked describe ${first} NAME; if an observer has this name: unacked describe observer ${first}`;
    throw usageFailure(`The name is missing: which ${first}?`, remedy);
  }
  if (kind === undefined || rest.length === 0) return ["observers", ...words];
  if (kind === "flows") throw usageFailure("describe does not show flows", `unacked flow show ${rest[0]}`);
  throw usageFailure(
    `describe shows nothing more of ${kind} than get does`,
    `unacked get ${kind} ${rest.join(" ")} -o wide`,
  );
}

async function ofObserver({ api, io, paint }: Session, ref: string): Promise<string> {
  const observer = await api.call("getObserver", { path: { ref } });
  const isAwaited = traitsOf(observer.status).run === "awaited" || observer.startProblem !== null;
  const [{ items: runs }, { items: services }] = await Promise.all([
    api.call("listRuns", { path: { ref: observer.id } }),
    isAwaited ? api.call("listServices", {}) : { items: [] },
  ]);
  return describeObserver({ observer, runs, services }, { paint, nowMs: io.nowMs() });
}

async function ofService({ api, io, paint }: Session, name: string): Promise<string> {
  const { items } = await api.call("listServices", { query: { all: true } });
  const service = findService(items, name);
  const observers: ObserverView[] = [];
  for await (const page of api.pages("listObservers", { service: service.id })) observers.push(...page);
  const tasks = await api.call("listTasks", { query: { service: service.id, limit: MAX_TASKS } });
  return describeService({ service, observers, tasks }, { paint, nowMs: io.nowMs() });
}

const ofTask = async ({ api, io, paint }: Session, taskId: string): Promise<string> =>
  describeTask(await api.call("getTask", { path: { taskId } }), { paint, nowMs: io.nowMs() });

const DESCRIBED = { observers: ofObserver, services: ofService, tasks: ofTask };
