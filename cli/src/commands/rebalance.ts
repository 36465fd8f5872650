import type { BalanceView } from "@unacked/contracts";
import { type Command, Option } from "commander";
import { CliFailure } from "../failure.ts";
import { parseTimeout } from "../input/duration.ts";
import type { Io } from "../io.ts";
import { balanceText } from "../output/balance-text.ts";
import { jsonText } from "../output/document-text.ts";
import { plainLine } from "../output/plain-text.ts";
import { openSession, type Session } from "../session.ts";
import { untilOver } from "./until-over.ts";

interface RebalanceOptions {
  dryRun?: boolean;
  cancel?: boolean;
  wait?: boolean;
  timeout: string;
  output?: "json";
}

export function addRebalance(program: Command, io: Io): void {
  program
    .command("rebalance")
    .summary("spread the observers of a pool over its services")
    .description(
      "Spread the observers of a pool over its services, in proportion to their workers. Every five seconds a few are stopped where there are too many, and start elsewhere at once.",
    )
    .argument("[pool]", "the pool", "default")
    .option("--dry-run", "only show how they are spread and what would be moved")
    .option("--cancel", "end the rebalance that is under way")
    .option("-w, --wait", "wait until it is over")
    .option("--timeout <duration>", "how long to wait at most", "15m")
    .addOption(new Option("-o, --output <format>", "print the whole answer").choices(["json"]))
    .action((pool: string, options: RebalanceOptions, self: Command) => rebalance(openSession(io, self), pool, options));
}

async function rebalance(session: Session, pool: string, options: RebalanceOptions): Promise<void> {
  const { api, io } = session;
  const { dryRun = false, cancel = false, wait = false } = options;
  const timeoutMs = parseTimeout(options.timeout);
  const asked = cancel
    ? await api.call("cancelRebalance", { path: { pool } })
    : await api.call("rebalance", { path: { pool }, body: { dryRun } });
  const last = wait && !dryRun ? await untilEven(session, asked, timeoutMs) : asked;
  io.out(options.output === "json" ? `${jsonText(last, 2)}\n` : balanceText(last, { dryRun }));
  if (wait && isUnderWay(asked) && last.rebalance?.outcome !== "even") throw endedOtherwise(last);
  if (wait && !dryRun && !cancel && !isUnderWay(asked) && asked.uneven !== null) throw notBegun(asked);
}

function untilEven(session: Session, asked: BalanceView, timeoutMs: number): Promise<BalanceView> {
  const { api, io } = session;
  let told = "";
  return untilOver(session, asked, {
    look: async (_wait, signal) => {
      const now = await api.call("getBalance", { path: { pool: asked.pool } }, { signal });
      const how = movedOf(now);
      if (isUnderWay(now) && how !== told) io.err(plainLine(how));
      told = how;
      return now;
    },
    isOver: (now) => !isUnderWay(now),
    timeoutMs,
    unfinished: (last) => ({
      message: `pool ${asked.pool} is not even yet: ${movedOf(last)}`,
      remedy: `It goes on. See: unacked rebalance ${asked.pool} --dry-run; to end it: unacked rebalance ${asked.pool} --cancel`,
    }),
  });
}

const isUnderWay = ({ rebalance }: BalanceView): boolean => rebalance !== null && rebalance.endedAt === null;

const movedOf = ({ rebalance }: BalanceView): string => `${rebalance?.moved ?? 0} of ${rebalance?.planned ?? 0} moved`;

/** The rebalance was cancelled or has stalled, so the pool is not even after the wait. */
const endedOtherwise = ({ pool, rebalance }: BalanceView): CliFailure =>
  new CliFailure("failed", `the rebalance of pool ${pool} is over (${rebalance?.outcome}) before the pool is even`);

/** No rebalance has begun, and the pool is not even either. */
const notBegun = ({ pool, uneven, waits }: BalanceView): CliFailure =>
  new CliFailure("failed", `pool ${pool} is not even, and nothing can be moved now: ${waits ?? uneven}`);
