import type { PoolStats, ServiceView, Warning } from "@unacked/contracts";

/** What warnings are made from. */
export interface Facts {
  pools: readonly PoolStats[];
  /** Living services. */
  services: readonly Pick<ServiceView, "name" | "state" | "brokerLoss" | "lastSeenAt">[];
  /** Batches of events that wait in the state queue; null while the broker cannot be asked. */
  stateQueueLag: number | null;
}

/** More batches than this and what the books say is old by more than a moment. */
const STATE_QUEUE_BEHIND = 1_000;

/** What is wrong now and what to do about it, the worst first. */
export function warningsOf(facts: Facts): Warning[] {
  return [
    ...brokerAway(facts),
    ...facts.services.flatMap(lossOf),
    ...facts.pools.flatMap(poolWarnings),
    ...facts.services.filter(({ state }) => state === "Suspect").map(suspect),
    ...sameNames(facts),
    ...stateQueueBehind(facts),
    ...facts.pools.filter(isFragile).map(fragile),
  ];
}

function brokerAway({ stateQueueLag }: Facts): Warning[] {
  if (stateQueueLag !== null) return [];
  return [
    {
      code: "broker-away",
      subject: "broker",
      message: "The broker cannot be asked.",
      remedy: "Start RabbitMQ, or look at /readyz for why the manager is not connected; it connects again by itself.",
    },
  ];
}

function lossOf({ name, brokerLoss }: Facts["services"][number]): Warning[] {
  if (brokerLoss === null) return [];
  const code = brokerLoss.kind === "consumer-timeout" ? "broker-cuts-jobs" : "broker-trouble";
  return [
    { code, subject: name, message: `${name} lost its broker session: ${brokerLoss.detail}`, remedy: brokerLoss.remedy },
  ];
}

function poolWarnings({ pool, services, draining, free, occupied, workers }: PoolStats): Warning[] {
  if (services === 0 && occupied > 0)
    return [
      {
        code: "no-service",
        subject: pool,
        message: `${counted(occupied)} of pool ${pool} ${occupied === 1 ? "waits" : "wait"}, and no service consumes it.`,
        remedy: `Start an observer-service with POOL=${pool}.`,
      },
    ];
  if (services > 0 && draining === services)
    return [
      {
        code: "all-draining",
        subject: pool,
        message: `Every service of pool ${pool} drains, and nobody takes its work${occupied === 0 ? "" : `: ${counted(occupied)} ${occupied === 1 ? "waits" : "wait"}`}.`,
        remedy: `End a drained service's process, so that it is started anew, or start another with POOL=${pool}.`,
      },
    ];
  if (services === 0 || free > 0) return [];
  const waiting =
    occupied > workers ? `; ${counted(occupied - workers)} ${occupied - workers === 1 ? "waits" : "wait"}` : "";
  return [
    {
      code: "no-free-worker",
      subject: pool,
      message: `All ${workers} workers of pool ${pool} are taken${waiting}.`,
      remedy: "Add a service, or raise WORKER_COUNT.",
    },
  ];
}

const counted = (observers: number): string => `${observers} observer${observers === 1 ? "" : "s"}`;

const suspect = ({ name, lastSeenAt }: Facts["services"][number]): Warning => ({
  code: "service-suspect",
  subject: name,
  message: `${name} has been silent since ${lastSeenAt}, and its connection still stands.`,
  remedy: "Look at its host: a frozen process or a cut network. Its observers move when the broker gives up on it.",
});

function sameNames({ services }: Facts): Warning[] {
  const names = services.map(({ name }) => name);
  const twice = [...new Set(names.filter((name, i) => names.indexOf(name) !== i))];
  return twice.map((name) => ({
    code: "same-service-name",
    subject: name,
    message: `Two living services call themselves ${name}.`,
    remedy: "Give each its own SERVICE_NAME. Both work; only people cannot tell them apart.",
  }));
}

function stateQueueBehind({ stateQueueLag }: Facts): Warning[] {
  if (stateQueueLag === null || stateQueueLag <= STATE_QUEUE_BEHIND) return [];
  return [
    {
      code: "state-queue-behind",
      subject: "unacked.state",
      message: `${stateQueueLag} batches of events wait to be read: the books are behind.`,
      remedy: "Look at the active manager and at PostgreSQL's load; nothing is lost meanwhile.",
    },
  ];
}

const isFragile = ({ services, draining, survivesLargestService }: PoolStats): boolean =>
  services > draining && !survivesLargestService;

const fragile = ({ pool }: PoolStats): Warning => ({
  code: "would-not-survive",
  subject: pool,
  message: `If the largest service of pool ${pool} died, some of its observers would have to wait.`,
  remedy: "Keep as many workers free as the largest service has: add a service.",
});
