import type { ServiceView } from "@unacked/contracts";
import type { Command } from "commander";
import { asRefusal, CliFailure, usageFailure } from "../failure.ts";
import { parseTimeout } from "../input/duration.ts";
import type { Io } from "../io.ts";
import { plainLine } from "../output/plain-text.ts";
import { openSession, type Session } from "../session.ts";
import { inParallel } from "./in-parallel.ts";
import { LostConnection } from "./lost-connection.ts";
import { type ResultFormat, resultOption } from "./option-sets.ts";
import { ReloadResults } from "./reload-results.ts";

interface ReloadOptions {
  pool?: string;
  all?: boolean;
  timeout: string;
  output: ResultFormat;
}

const SAY_EVERY_MS = 10_000;

export function addReload(program: Command, io: Io): void {
  program
    .command("reload")
    .summary("let services load their folder again, without stopping")
    .description(
      "Let a service load its folder of observers again, as SIGHUP does: observers of changed types go over to the new code, and all others stay where they are. If a changed file does not load, the error is shown and the old code stays; the types of a new file that does not load are missing. The command waits until each service has answered, and fails if a file does not load.",
    )
    .argument("[service]", "name or id")
    .option("--pool <pool>", "all living services of a pool")
    .option("--all", "all living services")
    .option("--timeout <duration>", "how long to wait at most", "2m")
    .addOption(resultOption())
    .action(async (name: string | undefined, options: ReloadOptions, self: Command) => {
      const session = openSession(io, self);
      const timeoutMs = parseTimeout(options.timeout);
      const refs = await chosen(session, name, options);
      const results = new ReloadResults(session, { format: options.output, asked: refs.length, isOne: name !== undefined });
      await reload(session, { refs, results, timeoutMs });
      results.end();
    });
}

async function chosen({ api }: Session, name: string | undefined, { pool, all }: ReloadOptions): Promise<string[]> {
  if ([name, pool, all].filter((one) => one !== undefined).length !== 1)
    throw usageFailure("Give the name of a service, --pool POOL or --all: exactly one of them");
  if (name !== undefined) return [name];
  const { items } = await api.call("listServices", {});
  const services = items.filter((one) => pool === undefined || one.pool === pool);
  if (services.length > 0) return services.map(({ id }) => id);
  const what = pool === undefined ? "No service lives" : `No service of pool ${pool} lives`;
  throw new CliFailure("failed", what, { remedy: "See: unacked get services --all" });
}

interface Asking {
  refs: readonly string[];
  results: ReloadResults;
  timeoutMs: number;
}

/**
 * Asks each service, then follows the changes. The stream opens before the services are read, so that no change between is
 * missed.
 */
async function reload({ api, io }: Session, { refs, results, timeoutMs }: Asking): Promise<void> {
  const waiting = new Map<string, ServiceView>();
  await inParallel(refs, async (service) => {
    const answer = api.call("reloadService", { path: { service } });
    // When many are asked, a service that refuses does not hold up the others.
    const asked = await (refs.length > 1 ? answer.catch(asRefusal) : answer);
    if (asked instanceof CliFailure) results.refuse(asked);
    else waiting.set(asked.id, asked);
  });
  if (waiting.size === 0) return;
  const names = (): string => [...waiting.values()].map(({ name }) => name).join(", ");
  if (results.isLines) io.out(plainLine(`asked to load the folder again: ${names()}`));
  const ending = new AbortController();
  const lost = new LostConnection(io);
  const timer = setTimeout(() => ending.abort(), timeoutMs);
  const saying = setInterval(() => io.err(plainLine(`waiting for ${names()}`)), SAY_EVERY_MS);
  const look = (now: ServiceView): void => {
    const asked = waiting.get(now.id);
    if (asked !== undefined && results.tell(asked, now)) waiting.delete(now.id);
  };
  try {
    for await (const news of lost.follow((signal) => api.changes(signal), ending.signal)) {
      if (news.name === "service") look(news.data);
      if (news.name === "ready" || news.name === "resync") {
        const read = (signal: AbortSignal) => api.call("listServices", { query: { all: true } }, { signal });
        const services = await lost.untilAnswered(read, ending.signal);
        lost.over();
        for (const service of services?.items ?? []) look(service);
      }
      if (waiting.size === 0) return;
    }
    for (const { name } of waiting.values()) results.refuse(timedOut(name, timeoutMs));
  } finally {
    clearTimeout(timer);
    clearInterval(saying);
    ending.abort();
  }
}

const timedOut = (name: string, timeoutMs: number): CliFailure =>
  new CliFailure("timedOut", `service ${name} has not answered within ${timeoutMs} ms`, {
    remedy: `The manager goes on asking it. See: unacked describe service ${name}`,
  });
