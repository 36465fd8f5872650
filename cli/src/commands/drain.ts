import type { ServiceView } from "@unacked/contracts";
import type { Command } from "commander";
import { CliFailure } from "../failure.ts";
import { parseTimeout } from "../input/duration.ts";
import type { Io } from "../io.ts";
import { printOne } from "../output/list-printer.ts";
import { plainLine } from "../output/plain-text.ts";
import { SERVICE_LISTING } from "../output/service-listing.ts";
import { openSession, type Session } from "../session.ts";
import { LostConnection } from "./lost-connection.ts";
import { type ResultFormat, resultOption } from "./option-sets.ts";

interface DrainOptions {
  /** true means the pool `default`. */
  leastLoaded?: string | true;
  wait?: boolean;
  timeout: string;
  output: ResultFormat;
}

export function addDrain(program: Command, io: Io): void {
  program
    .command("drain")
    .summary("let a service give back what it runs, and take nothing more")
    .description(
      "Let a service take no more work and give back what it runs: other services run it where they have free workers. It stays, idle, until its process is ended; a new process takes work again.",
    )
    .argument("[service]", "name or id")
    .option("--least-loaded [pool]", "the service of the pool that runs the fewest observers")
    .option("--wait", "wait until nothing is left on it")
    .option("--timeout <duration>", "how long to wait at most", "5m")
    .addOption(resultOption())
    .action(async (name: string | undefined, options: DrainOptions, self: Command) => {
      const session = openSession(io, self);
      await drain(session, await chosen(session, name, options), options);
    });
}

/** Takes the named service, or the one that runs least. That is one that takes work, so that asking twice drains two. */
async function chosen({ api }: Session, name: string | undefined, { leastLoaded }: DrainOptions): Promise<string> {
  if (name !== undefined && leastLoaded === undefined) return name;
  if (name !== undefined || leastLoaded === undefined)
    throw new CliFailure("usage", "Give either the name of a service or --least-loaded");
  const pool = leastLoaded === true ? "default" : leastLoaded;
  const { items } = await api.call("listServices", {});
  const open = items.filter((one) => one.pool === pool && one.state === "Alive" && !one.draining && !one.cordoned);
  if (open.length < 2)
    throw new CliFailure(
      "failed",
      `pool ${pool} has ${open.length === 0 ? "no service" : "only one service"} that takes work`,
      {
        remedy: "To drain it all the same, give its name.",
      },
    );
  return open.reduce((least, one) => (one.running < least.running ? one : least)).id;
}

async function drain(session: Session, name: string, { wait, timeout, output }: DrainOptions): Promise<void> {
  const timeoutMs = parseTimeout(timeout);
  const asked = await session.api.call("drainService", { path: { service: name } });
  const lines = output === "lines";
  if (lines && !asked.drained) session.io.out(plainLine(`service ${asked.name} is draining`));
  const last = wait === true ? await waitUntilDrained(session, asked, timeoutMs) : asked;
  if (lines && last.drained) session.io.out(plainLine(`service ${last.name} is drained`));
  if (!lines) session.io.out(printOne(SERVICE_LISTING, last, session.print(output)));
}

/**
 * How long a lost service is waited for. After a cut connection it is back within a second or two and drains on; a killed process never
 * is.
 */
const BACK_WITHIN_MS = 15_000;

/** Opens the stream of changes before it reads the service, so that no change between the two is missed. */
async function waitUntilDrained({ api, io }: Session, asked: ServiceView, timeoutMs: number): Promise<ServiceView> {
  const ending = new AbortController();
  const lost = new LostConnection(io);
  const timer = setTimeout(() => ending.abort(), timeoutMs);
  let goneTimer: NodeJS.Timeout | undefined;
  let isGivenUp = false;
  let last = asked;
  const isDone = (view: ServiceView): boolean => {
    last = view;
    if (view.state === "Stopped") throw endedFirst(view);
    if (view.state !== "Gone") {
      clearTimeout(goneTimer);
      goneTimer = undefined;
    } else if (goneTimer === undefined) {
      io.err(plainLine(`service ${view.name} has lost its connection, or was killed; waiting for it to come back`));
      goneTimer = setTimeout(() => {
        isGivenUp = true;
        ending.abort();
      }, BACK_WITHIN_MS);
    }
    if (!view.draining) throw takenBack(view);
    return view.drained;
  };
  try {
    for await (const news of lost.follow((signal) => api.changes(signal), ending.signal)) {
      const told = news.name === "service" && news.data.id === asked.id ? news.data : undefined;
      if (told?.draining === true && isDone(told)) return last;
      // News may have been read just before the drain was asked for. Only a fresh read shows that the drain was taken back.
      if (told?.draining !== false && news.name !== "ready" && news.name !== "resync") continue;
      const read = (signal: AbortSignal) => api.call("listServices", { query: { all: true } }, { signal });
      const services = await lost.untilAnswered(read, ending.signal);
      lost.over();
      const service = services?.items.find(({ id }) => id === asked.id);
      if (service !== undefined && isDone(service)) return last;
    }
    throw isGivenUp ? endedFirst(last) : timedOut(last, timeoutMs);
  } finally {
    clearTimeout(timer);
    clearTimeout(goneTimer);
    ending.abort();
  }
}

const endedFirst = ({ name, state }: ServiceView): CliFailure =>
  new CliFailure("failed", `service ${name} has ended (${state}) before it was drained`, {
    code: "service-ended",
    remedy: "There is nothing left to do: its observers run elsewhere, or wait for a worker.",
  });

/** Somebody has uncordoned the service meanwhile. */
const takenBack = ({ name }: ServiceView): CliFailure =>
  new CliFailure("failed", `service ${name} takes work again: its drain was taken back before it was drained`, {
    code: "drain-taken-back",
    remedy: `If it was not you, ask who did that. To drain it again: unacked drain ${name} --wait`,
  });

function timedOut({ name, state, running, tasksLeft }: ServiceView, timeoutMs: number): CliFailure {
  const left = [running > 0 && `${running} observers`, tasksLeft > 0 && `${tasksLeft} tasks`].filter(
    (some) => some !== false,
  );
  const what = left.length === 0 ? `it has not answered (it is ${state})` : `${left.join(" and ")} are still on it`;
  return new CliFailure("timedOut", `service ${name} is not drained within ${timeoutMs} ms: ${what}`, {
    remedy: `It goes on. See: unacked describe service ${name}`,
  });
}
