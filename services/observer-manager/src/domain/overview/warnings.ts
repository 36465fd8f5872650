import { type BrokenFile, type PoolStats, placeText, type SlotDeathView, type Warning } from "@unacked/contracts";
import type {
  BooksBlocker,
  DatabaseSession,
  Facts,
  GoneService,
  LongSnapshot,
  QueueTrouble,
  RestartedObservers,
  SilentObservers,
  UnevenPool,
  UnheardTimers,
  UnservedType,
  UnwantedQueue,
} from "./facts.ts";

/** More batches than this and what the books say is old by more than a moment. */
const STATE_QUEUE_BEHIND = 1_000;

/** What is wrong now and what to do about it, the worst first. */
export function warningsOf(facts: Facts): Warning[] {
  return [
    ...brokerAway(facts),
    ...facts.booksBlockers.map(booksBlocked),
    ...facts.queueTroubles.map((trouble) => queueRefused(trouble, facts)),
    ...facts.services.flatMap(lossOf),
    ...brokenFiles(facts),
    ...facts.services.flatMap(slotsDie),
    ...facts.pools.flatMap(poolWarnings),
    ...facts.unservedTypes.map(typeNotServed),
    ...facts.silentObservers.map(observersSilent),
    ...facts.restartedObservers.map(observersRestart),
    ...facts.unevenPools.map(poolUneven),
    // While the broker is away nobody is heard, and nothing is wrong with them.
    ...facts.services.filter(({ state }) => state === "Suspect" && facts.stateQueueLag !== null).map(suspect),
    ...facts.goneServices.map(serviceGone),
    ...sameNames(facts),
    ...stateQueueBehind(facts),
    ...facts.longSnapshots.map(longSnapshot),
    ...facts.unheardTimers.map(timersUnheard),
    ...facts.unwantedQueues.map(queueUnwanted),
    ...takenBackByFlaps(facts),
    ...facts.pools.filter(isFragile).map(fragile),
  ];
}

/** One for each file, however many services have it. */
function brokenFiles({ services }: Facts): Warning[] {
  const byText = new Map<string, { file: BrokenFile; names: string[] }>();
  for (const { name, brokenFiles: files } of services)
    for (const file of files) {
      const { file: path, problem } = file;
      const entry = byText.get(`${path} ${problem}`) ?? { file, names: [] };
      byText.set(`${path} ${problem}`, { ...entry, names: [...entry.names, name] });
    }
  return [...byText.values()].map(({ file, names }) => ({
    code: "file-not-loaded",
    subject: file.file,
    message: `${placeText(file)} on ${names.join(", ")}: ${file.problem}.`,
    remedy:
      "Mend it, and let them load it: unacked reload NAME. Only its types are missing there; GET /api/v1/types shows the lines.",
  }));
}

/** One death may happen to anybody; more in 10 minutes come from somewhere. */
const MANY_SLOT_DEATHS = 3;
const LATELY_MS = 600_000;

function slotsDie({ name, slotDeaths, slotDeathsLately, lastSeenAt }: Facts["services"][number]): Warning[] {
  if (slotDeathsLately < MANY_SLOT_DEATHS) return [];
  const sinceMs = Date.parse(lastSeenAt) - LATELY_MS;
  const lately = slotDeaths.filter(({ at }) => Date.parse(at) >= sinceMs);
  const culprits = [...new Set(lately.flatMap(whoDid))];
  const last = slotDeaths[0] === undefined ? "" : ` The last one (${slotDeaths[0].end}): ${slotDeaths[0].why}.`;
  const remedy =
    culprits.length > 0
      ? `Mend or stop ${culprits.join(", ")}: until then each runs alone in a slot. Its lastError has the stack.`
      : lately.some(({ reason }) => reason === "unnamed")
        ? "Who it is, is being found by splitting its observers over slots: look again in some minutes, at the memory of its slots too."
        : "None of its observers is looked for. GET /api/v1/services and its log tell how each ended: look at its host, and at what stops or ends processes there.";
  return [
    {
      code: "slots-die",
      subject: name,
      message: `Slots of ${name} ended ${slotDeathsLately} times in 10 minutes, and observers begin again by it.${last}`,
      remedy: `${remedy} GET /api/v1/services tells each.`,
    },
  ];
}

function whoDid({ culprit, culpritTask }: SlotDeathView): string[] {
  if (culprit !== null) return [culprit.name];
  return culpritTask === null ? [] : [`tasks of the type ${culpritTask.type}`];
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

function queueRefused({ pool, detail, remedy }: QueueTrouble, { pools }: Facts): Warning {
  const occupied = pools.find((each) => each.pool === pool)?.occupied ?? 0;
  const waiting =
    occupied === 0 ? "" : ` What its ${counted(occupied)} still ${occupied === 1 ? "needs" : "need"} sent waits.`;
  return {
    code: "queue-refused",
    subject: pool,
    message: `The queue of pool ${pool} cannot be had: ${detail}.${waiting}`,
    remedy,
  };
}

const queueUnwanted = ({ pool, ready, consumers }: UnwantedQueue): Warning => ({
  code: "queue-unwanted",
  subject: pool,
  message: `Nobody wants pool ${pool}, and its queue is kept: ${ready} ${ready === 1 ? "message waits" : "messages wait"} in it, and it has ${consumers} ${consumers === 1 ? "consumer" : "consumers"}.`,
  remedy:
    consumers > 0
      ? "End what consumes it: no service that these books know. The queue goes by itself then."
      : `Its messages are more than the books can explain: start a service with POOL=${pool}, which refuses what is not wanted and makes the rest known; or delete the queue.`,
});

function lossOf({ name, brokerLoss }: Facts["services"][number]): Warning[] {
  if (brokerLoss === null) return [];
  const code = brokerLoss.kind === "consumer-timeout" ? "broker-cuts-jobs" : "broker-trouble";
  return [
    { code, subject: name, message: `${name} lost its broker session: ${brokerLoss.detail}`, remedy: brokerLoss.remedy },
  ];
}

function poolWarnings({ pool, services, draining, free, occupied, workers }: PoolStats): Warning[] {
  const waiting = occupied - workers;
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
        message: `Every service of pool ${pool} drains or is cordoned, and nobody takes its work${waiting <= 0 ? "" : `: ${counted(waiting)} ${waiting === 1 ? "waits" : "wait"}`}.`,
        remedy: `Let one take work again (unacked uncordon NAME), end a drained service's process so that a new one is started, or start another with POOL=${pool}.`,
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

function typeNotServed({ kind, pool, type, count, isExact, resting, elsewhere }: UnservedType): Warning {
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
    remedy: `${none ? "Start" : "Let one take work again (unacked uncordon NAME), or start"} ${start} whose folder has the type, or mend its file and unacked reload NAME; or ${instead.replace("TYPE", type)}.`,
  };
}

const counted = (observers: number): string => `${observers} observer${observers === 1 ? "" : "s"}`;

const poolUneven = ({ pool, why, moves }: UnevenPool): Warning => ({
  code: "pool-uneven",
  subject: pool,
  message: `Pool ${pool} is not even: ${why}.`,
  remedy: `${moves} ${moves === 1 ? "move makes" : "moves make"} it even: unacked rebalance ${pool}. With REBALANCE=auto it is done once the pool has been calm for a minute.`,
});

const suspect = ({ name, lastSeenAt }: Facts["services"][number]): Warning => ({
  code: "service-suspect",
  subject: name,
  message: `${name} has been silent since ${lastSeenAt}, and its connection still stands.`,
  remedy: "Look at its host: a frozen process or a cut network. Its observers move when the broker gives up on it.",
});

const serviceGone = ({ name, pool, host, goneAt }: GoneService): Warning => ({
  code: "service-gone",
  subject: name,
  message: `${name} of pool ${pool}, on ${host}, went without a word at ${goneAt.toISOString()}: its process was killed, or its host or network failed. What it had was given to others.`,
  remedy: `Nobody has started it again under this name. If another has taken its place nothing is to be done; else look at its last log lines and at its host. This is said for 10 minutes.`,
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

const session = ({ pid, user, application }: DatabaseSession): string =>
  `${application === "" ? "A program without a name" : application} (user ${user}, pid ${pid} of PostgreSQL)`;

function booksBlocked({ openForS, waiting, ...by }: BooksBlocker): Warning {
  const wait = `${waiting} ${waiting === 1 ? "session" : "sessions"} of the managers`;
  const meanwhile = "The books stand still where they need the same rows; nothing is lost, and it goes on by itself.";
  if (by.pid === 0)
    return {
      code: "books-blocked",
      subject: "prepared transaction",
      message: `A prepared transaction holds locks that ${wait} wait for. ${meanwhile}`,
      remedy: "SELECT gid, prepared, owner FROM pg_prepared_xacts shows it: COMMIT PREPARED or ROLLBACK PREPARED ends it.",
    };
  return {
    code: "books-blocked",
    subject: `pid ${by.pid}`,
    message: `${session(by)} has had a transaction open for ${Math.floor(openForS)} s, and holds locks that ${wait} wait for. ${meanwhile}`,
    remedy: `Let it end, or end it: SELECT pg_terminate_backend(${by.pid}). Nobody but the managers writes these tables; idle_in_transaction_session_timeout ends what somebody has forgotten.`,
  };
}

const longSnapshot = ({ openForS, ...by }: LongSnapshot): Warning => ({
  code: "long-snapshot",
  subject: `pid ${by.pid}`,
  message: `${session(by)} has had a transaction open for ${Math.floor(openForS / 60)} min: until it ends PostgreSQL cleans nothing up that tasks leave behind, and each look at what waits takes longer.`,
  remedy: `Let it end, or end it: SELECT pg_terminate_backend(${by.pid}). Back up with pg_basebackup, or from a standby; and let idle_in_transaction_session_timeout end what somebody has forgotten.`,
});

function timersUnheard({ name, count, isRefused, since }: UnheardTimers): Warning {
  const [timers, are, them] = count === 1 ? ["timer", "is", "it"] : ["timers", "are", "them"];
  const [why, remedy] = isRefused
    ? [
        `a queue that is bound for that refuses ${them} (full, with x-overflow reject-publish, or without a leader)`,
        `Look at the queues that are bound to the exchange unacked.timers for ${name}: empty the full one, or let it take more. It is tried again until it expires, and cannot be cancelled: another queue may have heard it.`,
      ]
    : [
        `no queue took ${them}: nobody listens`,
        `Bind a queue to the exchange unacked.timers with the key ${name}. It is tried again until it expires; DELETE /api/v1/timers/{timerId} ends it.`,
      ];
  const message = `${count} ${timers} named ${name} ${are} due, and ${why}, since ${since.toISOString()} at the latest.`;
  return { code: "timers-unheard", subject: name, message, remedy };
}

const observersRestart = ({ pool, count, most, names }: RestartedObservers): Warning => ({
  code: "observers-restart",
  subject: pool,
  message: `${counted(count)} of pool ${pool} began again 5 times or more in 10 minutes, up to ${most === 100 ? "100 and more" : most} times: ${names.join(", ")}${count > names.length ? ", …" : ""}.`,
  remedy:
    "Some fail, others only share a slot or a service with what ends it. GET /api/v1/observers/{ref}/timeline says of each why, and whose fault it was.",
});

const observersSilent = ({ pool, count, since, names }: SilentObservers): Warning => ({
  code: "observers-silent",
  subject: pool,
  message: `${counted(count)} of pool ${pool} ${count === 1 ? "runs and is" : "run and are"} silent: ${names.join(", ")}${count > names.length ? ", …" : ""}. The first since ${since.toISOString()}.`,
  remedy:
    "What it listens to says nothing, or it does not listen any more. Restart it, or give it a silence.restartAfterMs, by which it is restarted; GET /api/v1/observers?silent=true lists them.",
});

/** Since RabbitMQ 4.3 a quorum queue waits for a consumer whose node is out of reach (`consumer_disconnected_timeout`, a minute). */
function takenBackByFlaps({ queueKeeper }: Facts): Warning[] {
  if (queueKeeper === null || queueKeeper.queueType !== "quorum") return [];
  const [major = 0, minor = 0] = queueKeeper.brokerVersion.split(".").map(Number);
  if (major > 4 || (major === 4 && minor >= 3)) return [];
  return [
    {
      code: "broker-takes-back",
      subject: "broker",
      message: `RabbitMQ ${queueKeeper.brokerVersion} gives a quorum queue's jobs to others the moment that its nodes lose each other: with cluster_partition_handling = ignore an observer may then run twice until a node is restarted.`,
      remedy:
        "Upgrade to RabbitMQ 4.3 or later, which waits a minute. Until then, on a cluster: cluster_partition_handling = pause_minority on every node. A single node has no such moments; there WORK_QUEUE_TYPE=classic is as good.",
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
