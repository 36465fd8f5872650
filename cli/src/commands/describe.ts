import type { ObserverView } from "@unacked/contracts";
import type { Command } from "commander";
import { usageFailure } from "../failure.ts";
import { findKind } from "../input/kinds.ts";
import type { Io } from "../io.ts";
import { describeObserver, describeService } from "../output/description.ts";
import { openSession, type Session } from "../session.ts";
import { findService } from "./find-service.ts";

export function addDescribe(program: Command, io: Io): void {
  program
    .command("describe")
    .summary("all that is known of one observer or service")
    .description(
      "Show all that is known of an observer (its runs, params and last error), or of a service and what it runs.",
    )
    .argument("<words...>", "NAME, or: observer NAME, service NAME")
    .action((words: string[], _options: object, self: Command) => describe(openSession(io, self), words));
}

async function describe(session: Session, words: string[]): Promise<void> {
  const [kind, ...names] = kindAndNames(words);
  const texts: string[] = [];
  for (const name of names)
    texts.push(kind === "services" ? await ofService(session, name) : await ofObserver(session, name));
  session.io.out(texts.join("\n"));
}

/** A lone word is a name, even if it is `service`. */
function kindAndNames(words: string[]): ["observers" | "services", ...string[]] {
  const [first = "", ...rest] = words;
  const kind = rest.length === 0 ? undefined : findKind(first);
  if (kind === undefined) return ["observers", ...words];
  if (kind === "observers" || kind === "services") return [kind, ...rest];
  throw usageFailure(`There is nothing more to tell of ${kind} than get shows`, `unacked get ${kind} -o wide`);
}

async function ofObserver({ api, io, paint }: Session, name: string): Promise<string> {
  const observer = await api.getObserver(name);
  return describeObserver(observer, await api.listRuns(observer.id), { paint, nowMs: io.nowMs() });
}

async function ofService({ api, io, paint }: Session, name: string): Promise<string> {
  const service = findService(await api.listServices({ all: true }), name);
  const observers: ObserverView[] = [];
  for await (const page of api.observerPages({ service: service.id })) observers.push(...page);
  return describeService(service, observers, { paint, nowMs: io.nowMs() });
}
