import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster, NodeName } from "../../../scripts/servers/cluster/cluster.mjs";
import { longestOverlapMs } from "../acts/invariants.ts";
import { startBystander } from "../processes/bystander.ts";
import { freshDatabase, freshVhostOf } from "../servers/servers.ts";
import { System } from "./system.ts";

const HEARTBEAT_S = 4;
/** How long an operator takes to start a node again. */
const UNTIL_MENDED_MS = 10_000;
/** The overlap is measured here, and judged by the caller. */
const ANY_MS = 3_600_000;
/** Of the lease: it is lost 1.5 H after the last proof, and the process ends 0.4 H later if a handler still runs. */
const LEASE_MS = 1.9 * HEARTBEAT_S * 1_000;
const STOP_MS = 0.4 * HEARTBEAT_S * 1_000;
const OBSERVERS = 3;
const WORK_QUEUE = "unacked.work.default";

/** One way in which the nodes of a cluster lose each other, with the service `old` on node a and `new` on node b. */
export interface Partition {
  readonly what: string;
  readonly links: [NodeName, NodeName][];
  readonly how: "reset" | "silent";
  readonly lastsMs: number;
  /** The node that leads the work queue as it begins. */
  readonly leader: NodeName;
  /** The nodes that managers are connected to. */
  readonly managers: NodeName[];
  readonly handling: "ignore" | "pause_minority";
  /** By `npm test -- --all` too: one of each promise. The others only by `npm run prove -- partitions`. */
  readonly isAlwaysTried: boolean;
}

const A_ALONE: [NodeName, NodeName][] = [
  ["a", "b"],
  ["a", "c"],
];
const A_FROM_B: [NodeName, NodeName][] = [["a", "b"]];
const NODES: NodeName[] = ["a", "b", "c"];

export const PARTITIONS: Partition[] = [...lasting(), ...flaps(), ...managersBehindTheCut()];

function lasting(): Partition[] {
  const whose = [
    { links: A_ALONE, whose: "node a cut off" },
    { links: A_FROM_B, whose: "a and b cut off from each other" },
  ];
  const ways = [
    { how: "reset", lastsMs: 10_000 },
    { how: "silent", lastsMs: 18_000 },
  ] as const;
  return (["ignore", "pause_minority"] as const).flatMap((handling) =>
    whose.flatMap(({ whose, links }) =>
      ways.flatMap(({ how, lastsMs }) =>
        NODES.map((leader) => ({
          what: `${whose}, ${how}, ${handling}, work queue led by ${leader}`,
          links,
          how,
          lastsMs,
          leader,
          handling,
          managers: ["c" as const],
          isAlwaysTried: leader === "b" && handling === "ignore" && links === A_ALONE,
        })),
      ),
    ),
  );
}

function flaps(): Partition[] {
  return (["pause_minority", "ignore"] as const).flatMap((handling) =>
    [300, 1_000, 3_000].map((lastsMs) => ({
      what: `a flap of ${lastsMs / 1_000} s of node a, reset, ${handling}`,
      links: A_ALONE,
      how: "reset" as const,
      lastsMs,
      leader: "b" as const,
      handling,
      managers: ["c" as const],
      isAlwaysTried: lastsMs === 300,
    })),
  );
}

/** From then on a reaches the work queue by c, but no order reaches a's services: as after a flap. */
function managersBehindTheCut(): Partition[] {
  const lastsMs = 12_000;
  const cut = { links: A_FROM_B, how: "reset", lastsMs, leader: "c", handling: "ignore", isAlwaysTried: false } as const;
  return [
    { what: "a and b cut off from each other, reset, the only manager on b", ...cut, managers: ["b"] },
    { what: "a and b cut off from each other, reset, managers on b and c", ...cut, managers: ["b", "c"] },
  ];
}

/** What docs/guarantees.md promises: how long two runs of one observer may act side by side. */
export interface Bound {
  readonly ms: number;
  /** `mending`: nothing bounds it until node a is being started again, which `ignore` leaves to an operator. */
  readonly from: "takeover" | "mending";
}

/** `version`: of RabbitMQ. */
export function boundOf({ how, handling, links, lastsMs }: Partition, version: string): Bound {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const waitsAMinute = major > 4 || (major === 4 && minor >= 3); // longer than the lease
  if (waitsAMinute) return { ms: 0, from: "takeover" };
  // RabbitMQ breaks the link to the third node as well, for about a second: node a reaches the majority again.
  const mayBeAMomentForA = links === A_FROM_B || lastsMs <= 3_000;
  if (handling === "ignore" && mayBeAMomentForA) return { ms: STOP_MS, from: "mending" };
  if (how === "silent" && !mayBeAMomentForA) return { ms: 0, from: "takeover" };
  return { ms: LEASE_MS, from: "takeover" };
}

export interface Outcome {
  /** How long two runs of one observer acted side by side, by their own acts; 0: never. */
  readonly overlapMs: number;
  /** As much of it as counts for the bound. */
  readonly boundedMs: number;
  /** What a bare process that stamped beside them has missed: nothing can keep a bound more exactly. */
  readonly missedMs: number;
  /** After the cut, until every observer had acted on `new`; undefined if that was not before the heal. */
  readonly elsewhereMs: number | undefined;
  /** Why `old` ended its runs; "kept" if it did not. */
  readonly endedBy: string;
}

/** Lets it happen to a fresh system, heals it, holds the invariants (but for the overlap), and tells what it was like. */
export async function livesThrough(cluster: Cluster, partition: Partition, bound: Bound): Promise<Outcome> {
  const { links, how, lastsMs, leader, managers, handling } = partition;
  const { vhost, management } = await freshVhostOf(cluster);
  const at = (node: NodeName) => `${cluster.amqpUrl(node)}/${vhost}`;
  const { databaseUrl } = await freshDatabase();
  const env = { WORK_QUEUE_TYPE: "quorum" };
  const system = new System({ amqpUrl: at("c"), databaseUrl, management, heartbeatS: HEARTBEAT_S, env });
  const bystander = await startBystander();
  try {
    await cluster.handlePartitionsBy(handling);
    for (const node of managers) await system.startManager({ env: { AMQP_URL: at(node) } });
    const old = await system.startService("old", { workers: 2 * OBSERVERS, env: { AMQP_URL: at("a") } });
    const ids = (await system.createMany("observer", OBSERVERS)).map((one) => one.id);
    const other = await system.startService("new", { workers: 2 * OBSERVERS, env: { AMQP_URL: at("b") } });
    await cluster.lead(WORK_QUEUE, leader, vhost);

    const cutNs = process.hrtime.bigint();
    await cluster.cut(links, how);
    await sleep(lastsMs); // a cut of this length is what is tried
    const healedNs = process.hrtime.bigint();
    await cluster.heal();
    // Before an operator mends anything: that would end the old runs by itself.
    await old.waitForEvent("lease-lost", { timeoutMs: UNTIL_MENDED_MS }).catch(() => "it kept what it had");
    await cluster.untilMet();
    const mendedNs = process.hrtime.bigint();
    await cluster.endNode("a", "SIGKILL");
    await cluster.start("a");
    await cluster.untilAllRun();

    await system.check({ maxOverlapMs: ANY_MS, timeoutMs: 60_000 });
    const firstActsNs = ids.map(
      (id) =>
        system.acts().find((act) => act.observerId === id && act.pid === other.pid && act.monotonicNs > cutNs)?.monotonicNs,
    );
    const lastNs = firstActsNs.reduce((last, ns) => (last === undefined || ns === undefined || last > ns ? last : ns));
    const fromNs = bound.from === "takeover" ? cutNs : mendedNs;
    // The operator's kill of node a resets what is connected to it by then: that is another fault, with a bound of its own.
    const untilNs = bound.from === "takeover" ? mendedNs : process.hrtime.bigint();
    const counting = system.acts().filter((act) => act.monotonicNs >= fromNs && act.monotonicNs < untilNs);
    return {
      overlapMs: Math.round(longestOverlapMs(system.acts())),
      boundedMs: Math.round(longestOverlapMs(counting)),
      missedMs: bystander.missedMs(fromNs, untilNs),
      elsewhereMs: lastNs === undefined || lastNs > healedNs ? undefined : Math.round(Number(lastNs - cutNs) / 1e6),
      endedBy: old.lines.map(eventOf).find(({ event }) => event === "lease-lost")?.why ?? "kept",
    };
  } finally {
    await system.close();
    await bystander.end();
  }
}

const COLUMNS = [18, 30, 20, 18, 16];
export const HEADING = cells("overlap", "bound", "bystander missed", "elsewhere after", "ended by", "case");

/** A line of the table that proves it. */
export function rowOf({ what }: Partition, bound: Bound, outcome: Outcome): string {
  const { overlapMs, boundedMs, missedMs, elsewhereMs, endedBy } = outcome;
  const mending = bound.from === "mending" ? `, ${boundedMs} ms from mending` : "";
  return cells(
    `${overlapMs} ms`,
    `${bound.ms} ms${mending}`,
    `${missedMs} ms`,
    elsewhereMs === undefined ? "not before heal" : `${elsewhereMs} ms`,
    endedBy,
    what,
  );
}

function cells(...words: string[]): string {
  return words.map((word, i) => word.padEnd(COLUMNS[i] ?? 0)).join(" ");
}

function eventOf(line: string): { event?: string; why?: string } {
  try {
    return JSON.parse(line) as { event?: string; why?: string };
  } catch {
    return {};
  }
}
