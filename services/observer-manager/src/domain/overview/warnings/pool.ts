import type { PoolStats, Warning } from "@unacked/contracts";
import type { Facts, QueueTrouble, UnevenPool, UnservedType, UnwantedQueue } from "../facts.ts";
import { counted } from "./words.ts";

export function queueRefused({ pool, detail, remedy }: QueueTrouble, { pools }: Facts): Warning {
  const occupied = pools.find((each) => each.pool === pool)?.occupied ?? 0;
  const waiting =
    occupied === 0 ? "" : ` What its ${counted(occupied)} still ${occupied === 1 ? "needs" : "need"} sent waits.`;
  return {
    code: "queue-refused",
    subject: pool,
    message: `The queue of pool ${pool} is not available: ${detail}.${waiting}`,
    remedy,
  };
}

/** Counts observers that are sent, and take a place in their pool, and those that wait for a service to be sent to. */
export function noService({ pools, lateStarts }: Facts): Warning[] {
  const served = new Set(pools.flatMap(({ pool, services }) => (services > 0 ? [pool] : [])));
  const waiting = new Map(pools.map(({ pool, occupied }) => [pool, occupied]));
  for (const { pool, count } of lateStarts) waiting.set(pool, (waiting.get(pool) ?? 0) + count);
  return [...waiting].flatMap(([pool, count]) => (served.has(pool) || count === 0 ? [] : [unserved(pool, count)]));
}

const unserved = (pool: string, count: number): Warning => ({
  code: "no-service",
  subject: pool,
  message: `${counted(count)} of pool ${pool} ${count === 1 ? "waits" : "wait"}, and no service consumes it.`,
  remedy: `Start an observer-service with POOL=${pool}.`,
});

export function poolWarnings({ pool, services, draining, free, occupied, workers }: PoolStats): Warning[] {
  const waiting = occupied - workers;
  if (services > 0 && draining === services)
    return [
      {
        code: "all-draining",
        subject: pool,
        message: `Every service of pool ${pool} drains or is cordoned, and none takes its work${waiting <= 0 ? "" : `: ${counted(waiting)} ${waiting === 1 ? "waits" : "wait"}`}.`,
        remedy: `Let one take work again (unacked uncordon NAME), restart a drained service's process, or start another with POOL=${pool}.`,
      },
    ];
  if (services === 0 || free > 0) return [];
  return [
    {
      code: "no-free-worker",
      subject: pool,
      message: `All ${workers} workers of pool ${pool} are taken${waiting <= 0 ? "" : `; ${counted(waiting)} ${waiting === 1 ? "waits" : "wait"}`}.`,
      remedy: "Add a service, or raise WORKER_COUNT.",
    },
  ];
}

export function typeNotServed({ kind, pool, type, count, isExact, resting, elsewhere }: UnservedType): Warning {
  const [all, wait] = [
    `${count}${isExact ? "" : " and more"} ${kind}${count === 1 ? "" : "s"}`,
    count === 1 ? "waits" : "wait",
  ];
  const start = kind === "observer" ? `a service with POOL=${pool}` : `a service with POOL=${pool} and TASK_WORKERS above 0`;
  const none = resting.length === 0;
  const has = none
    ? "no service there has the type."
    : `of the services there ${resting.slice(0, 3).join(", ")}${resting.length > 3 ? ", …" : ""} alone ${resting.length === 1 ? "has the type, and drains or is" : "have the type, and drain or are"} cordoned.`;
  const others =
    elsewhere.length > 0
      ? ` Those of pool ${elsewhere.slice(0, 3).join(", ")} have it.`
      : none
        ? " No service at all has it."
        : "";
  const instead =
    kind === "observer"
      ? "move them to a pool that has it (PATCH with its pool)"
      : "let workers outside take them (unacked limit TYPE --outside)";
  return {
    code: "type-not-served",
    subject: type,
    message: `${all} of type ${type} ${wait} in pool ${pool}: ${has}${others}`,
    remedy: `${none ? "Start" : "Let one take work again (unacked uncordon NAME), or start"} ${start} whose folder has the type, or correct its file and unacked reload NAME; or ${instead.replace("TYPE", type)}.`,
  };
}

export const poolUneven = ({ pool, why, moves }: UnevenPool): Warning => ({
  code: "pool-uneven",
  subject: pool,
  message: `Pool ${pool} is not even: ${why}.`,
  remedy: `${moves} ${moves === 1 ? "move makes" : "moves make"} it even: unacked rebalance ${pool}. With REBALANCE=auto it is done once the pool has been calm for a minute.`,
});

export const queueUnwanted = ({ pool, ready, consumers }: UnwantedQueue): Warning => ({
  code: "queue-unwanted",
  subject: pool,
  message: `No service works in pool ${pool} and no observer there runs or waits to run, but its queue is kept: ${ready} ${ready === 1 ? "message waits" : "messages wait"} in it, and it has ${consumers} ${consumers === 1 ? "consumer" : "consumers"}.`,
  remedy:
    consumers > 0
      ? "End its consumers: they are not services that the manager knows. The queue is then removed by itself."
      : `It has more messages than the manager can explain. Start a service with POOL=${pool}: it refuses what is not wanted, and reports the rest. Or delete the queue.`,
});

export const isFragile = ({ services, draining, survivesLargestService }: PoolStats): boolean =>
  services > draining && !survivesLargestService;

export const fragile = ({ pool }: PoolStats): Warning => ({
  code: "would-not-survive",
  subject: pool,
  message: `If the largest service of pool ${pool} died, some of its observers would have to wait.`,
  remedy: "Keep as many workers free as the largest service has: add a service.",
});
