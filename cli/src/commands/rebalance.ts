import { setTimeout as sleep } from "node:timers/promises";
import type { BalanceView } from "@unacked/contracts";
import { type Command, Option } from "commander";
import { CliFailure } from "../failure.ts";
import { parseDuration } from "../input/duration.ts";
import type { Io } from "../io.ts";
import { balanceText } from "../output/balance-text.ts";
import { jsonText } from "../output/document-text.ts";
import { plainLine } from "../output/plain-text.ts";
import { openSession, type Session } from "../session.ts";

interface RebalanceOptions {
  dryRun?: boolean;
  cancel?: boolean;
  wait?: boolean;
  timeout: string;
  output?: "json";
}

const LOOK_EVERY_MS = 1_000;

export function addRebalance(program: Command, io: Io): void {
  program
    .command("rebalance")
    .summary("spread the observers of a pool over its services")
    .description(
      "Spread the observers of a pool over its services, each in proportion to its workers: a few every five seconds are stopped where there are too many, and run elsewhere at once.",
    )
    .argument("[pool]", "the pool", "default")
    .option("--dry-run", "show how they lie and what would be moved, and move nothing")
    .option("--cancel", "end the one that is under way")
    .option("-w, --wait", "until it is over")
    .option("--timeout <duration>", "how long to wait at most", "15m")
    .addOption(new Option("-o, --output <format>", "the answer, whole").choices(["json"]))
    .action((pool: string, options: RebalanceOptions, self: Command) => rebalance(openSession(io, self), pool, options));
}

async function rebalance(session: Session, pool: string, options: RebalanceOptions): Promise<void> {
  const { api, io } = session;
  const { dryRun = false, cancel = false, wait = false } = options;
  const timeoutMs = parseDuration(options.timeout);
  const asked = cancel ? await api.cancelRebalance(pool) : await api.rebalance(pool, { dryRun });
  const isUnderWay = asked.rebalance !== null && asked.rebalance.endedAt === null;
  const last = wait && isUnderWay && !dryRun ? await untilOver(session, pool, timeoutMs) : asked;
  io.out(options.output === "json" ? `${jsonText(last, 2)}\n` : balanceText(last, { dryRun }));
}

async function untilOver({ api, io }: Session, pool: string, timeoutMs: number): Promise<BalanceView> {
  const endMs = performance.now() + timeoutMs;
  let told = -1;
  for (;;) {
    const now = await api.getBalance(pool);
    const { rebalance } = now;
    if (rebalance === null || rebalance.endedAt !== null) return now;
    const { moved, planned } = rebalance;
    if (moved !== told) io.err(plainLine(`${moved} of ${planned} moved`));
    told = moved;
    if (performance.now() > endMs) throw timedOut(pool, timeoutMs, `${moved} of ${planned} moved`);
    await sleep(LOOK_EVERY_MS);
  }
}

const timedOut = (pool: string, timeoutMs: number, how: string): CliFailure =>
  new CliFailure("timedOut", `pool ${pool} is not even within ${timeoutMs} ms: ${how}`, {
    remedy: `It goes on. See: unacked rebalance ${pool} --dry-run`,
  });
