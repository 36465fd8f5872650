import { type BodyOf, MAX_TIMER_IN_MS, newUuid, TimerId } from "@unacked/contracts";
import type { Command } from "commander";
import { CliFailure, usageFailure } from "../failure.ts";
import { parseDuration } from "../input/duration.ts";
import { jsonValue } from "../input/exact-numbers.ts";
import type { Io } from "../io.ts";
import { plainLine } from "../output/plain-text.ts";
import { openSession, type Session } from "../session.ts";
import { creating, repeatWith } from "./repeatable-create.ts";

type NewTimer = BodyOf<"putTimer">;

interface TimerOptions {
  at?: string;
  in?: string;
  payload?: string;
  expiresAt?: string;
  id?: string;
}

export function addTimer(program: Command, io: Io): void {
  program
    .command("timer")
    .summary("set a timer: at its time its payload is published")
    .description(
      "Set a timer. At its time its payload is published to the exchange unacked.timers, with its name as the routing key. With --id the command is safe to repeat; repeated with another time or payload it changes the timer, as long as that waits.",
    )
    .argument("<name>", "its name, such as cart.abandoned")
    .option("--at <time>", "when it fires: ISO 8601, or UNIX time in seconds")
    .option("--in <duration>", "instead of --at: how long from now, such as 90s, 2h or 7d, by the clock of the database")
    .option("--payload <json>", "any JSON value")
    .option("--expires-at <time>", "it does not fire after this time; default: a day after its time")
    .option("--id <uuid>", "an id of your own: makes the command safe to repeat")
    .action((name: string, options: TimerOptions, self: Command) =>
      set(openSession(io, self), idOf(options), toTimer(name, options)),
    );
}

async function set(session: Session, timerId: string, body: NewTimer): Promise<void> {
  const timer = await creating(session, repeatWith(timerId), (signal) =>
    session.api.call("putTimer", { path: { timerId }, body }, { signal }),
  );
  const how = timer.outcome === "created" ? "" : ` (${timer.outcome})`;
  session.io.out(plainLine(`timer ${timer.id} is ${timer.status} until ${timer.at}${how}`));
}

/** Checks the id here: in the call's path a wrong id would be answered like a timer that does not exist. */
function idOf({ id = newUuid() }: TimerOptions): string {
  if (TimerId.safeParse(id).success) return id;
  throw usageFailure(`--id: "${id}" is not a UUID`, `Give one such as ${newUuid()}. Without --id the timer is given one.`);
}

function toTimer(name: string, { at, in: duration, payload, expiresAt }: TimerOptions): NewTimer {
  if ((at === undefined) === (duration === undefined))
    throw usageFailure("When? Give either --at or --in", "unacked timer NAME --in 90s");
  return {
    name,
    ...(duration === undefined ? { at: toInstant("--at", at as string) } : { inMs: fromNow(duration) }),
    ...(payload !== undefined && { payload: toJson(payload) }),
    ...(expiresAt !== undefined && { expiresAt: toInstant("--expires-at", expiresAt) }),
  };
}

/** The manager adds the duration to its own time, as the clock of this machine may be wrong. */
function fromNow(duration: string): number {
  const inMs = parseDuration(duration);
  if (inMs <= MAX_TIMER_IN_MS) return inMs;
  throw usageFailure(`--in: "${duration}" is longer than a timer may wait`, "It is a thousand years at most.");
}

/**
 * The end of the year 9998 in UNIX seconds: no timer fires later. Nearly all times in milliseconds are greater than that.
 */
const LATEST_S = 253_370_764_800;

function toInstant(option: string, text: string): string | number {
  if (!/^\d+(\.\d+)?$/.test(text)) return text;
  if (Number(text) <= LATEST_S) return Number(text);
  throw usageFailure(
    `${option}: UNIX time is in seconds, and ${text} is too late for that`,
    `If it is meant in milliseconds, write ${Number(text) / 1_000}`,
  );
}

function toJson(text: string): unknown {
  try {
    return jsonValue(text);
  } catch (error) {
    throw new CliFailure("usage", `--payload is not JSON, or cannot be sent: ${(error as Error).message}`, {
      remedy: `Write it as --payload '{"cart":4711}'`,
    });
  }
}
