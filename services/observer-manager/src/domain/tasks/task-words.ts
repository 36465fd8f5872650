import type {
  RunId,
  SendId,
  ServiceId,
  TaskEnded,
  TaskEventBatch,
  TaskId,
  TaskInventory,
  TaskWorkers,
} from "@unacked/contracts";

/** Who told it. */
export interface Teller {
  serviceId: ServiceId;
  serviceName: string;
  generation: number;
}

/** A run that another one of the same send has followed without an end of it. */
export interface CutRun {
  runId: RunId;
  /** Who had it. */
  by: Teller;
  /** `service-gone`: another service has its message, so it went with its own, as far as is told · `restarted`: its own began it again. */
  reason: "service-gone" | "restarted";
  /** What its own service says of that. */
  detail: string | undefined;
}

/** All that a batch of messages says of one send of a task, as one word. */
export interface TaskWord {
  taskId: TaskId;
  sendId: SendId;
  /** Who has it, or had it last. */
  by: Teller;
  /** Undefined: it was released, or never said to have started. */
  runId: RunId | undefined;
  startedAtMs: number | undefined;
  /** The runs that were not lost, as who had them says: they let go of it, or ended after another had. */
  told: RunId[];
  /** What its service says of the end of the run before the first that is told of here. */
  interruption: string | undefined;
  /** Those that were followed by others here. Each is an interruption, and a crash if it went with its service. */
  cut: CutRun[];
  /** Nobody has its message any more, and it has not ended. */
  returned: { isRedelivered: boolean; noSlot: boolean } | undefined;
  /** The first end that was told. */
  end: TaskEnded | undefined;
  /** The pool of the service, and so of the task. */
  pool: string;
  /** That it goes elsewhere, as the service that ended it does not take its params. */
  turnedAway?: TurnedAway;
}

/** What the story of a task has while it waits for a service that takes its params. */
export interface TurnedAway {
  /** A hash of the params that were refused: what is said here is not said of others. */
  params: string;
  /** The versions of its type that have refused them. */
  by: string[];
  /** How often they were refused. */
  turns: number;
}

/** What services said, reduced to what the books have to write. */
export interface TaskNews {
  words: TaskWord[];
  /** What each service said last of its workers. */
  workers: (Teller & TaskWorkers & { pool: string })[];
  seen: string[];
  inventories: (Teller & TaskInventory)[];
  /** Tasks that have run for long, as far as nothing else is said of them. */
  running: (Pick<Teller, "serviceId" | "generation"> & { taskId: TaskId; sendId: SendId })[];
  /** Who told something, with the lowest and the highest number of each, and whether all between is there. */
  seqs: Map<ServiceId, Teller & { pool: string; firstSeq: number; seq: number; isWhole: boolean }>;
}

/** Pure. Takes batches in the order in which they were read. */
export function newsOf(batches: readonly TaskEventBatch[]): TaskNews {
  const words = new Map<string, TaskWord>();
  const workers = new Map<ServiceId, TaskNews["workers"][number]>();
  const news: TaskNews = { words: [], workers: [], seen: [], inventories: [], running: [], seqs: new Map() };
  for (const { serviceId, serviceName, pool, generation, seq, events } of batches) {
    const by = { serviceId, serviceName, generation };
    const before = news.seqs.get(serviceId);
    const { firstSeq = seq, seq: lastSeq = seq - 1, isWhole = true } = before ?? {};
    const told = { firstSeq: Math.min(seq, firstSeq), seq: Math.max(seq, lastSeq), isWhole: isWhole && seq <= lastSeq + 1 };
    news.seqs.set(serviceId, { ...by, pool, ...told });
    for (const event of events) {
      switch (event.kind) {
        case "TaskWorkers":
          workers.set(serviceId, { ...by, pool, ...event });
          break;
        case "TaskMarkerSeen":
          news.seen.push(event.markerId);
          break;
        case "TaskInventory":
          news.inventories.push({ ...by, ...event });
          break;
        case "TasksRunning":
          news.running.push(...event.tasks.map((task) => ({ ...task, serviceId, generation })));
          break;
        case "TaskStarted":
        case "TaskEnded":
        case "TaskReleased":
        case "TaskReturned": {
          const word = words.get(event.sendId) ?? freshWord(event, by, pool);
          words.set(event.sendId, word);
          addTo(word, event, by);
          break;
        }
        default:
          event satisfies never;
      }
    }
  }
  // The order is the same everywhere, so that nobody waits for somebody who waits for him.
  news.words = [...words.values()].toSorted((a, b) => (a.taskId < b.taskId ? -1 : 1));
  news.workers = [...workers.values()];
  news.running = news.running.filter(({ sendId }) => !words.has(sendId));
  return news;
}

type RunEvent = Extract<
  TaskEventBatch["events"][number],
  { kind: "TaskStarted" | "TaskEnded" | "TaskReleased" | "TaskReturned" }
>;

const freshWord = ({ taskId, sendId }: RunEvent, by: Teller, pool: string): TaskWord => ({
  taskId,
  sendId,
  by,
  runId: undefined,
  startedAtMs: undefined,
  told: [],
  interruption: undefined,
  cut: [],
  returned: undefined,
  end: undefined,
  pool,
});

/**
 * Who releases it lives, also where another has begun it already: a service whose connection was lost tells of that when it has the next. In one
 * batch that is as good as a release in time. The same is true of an end that is not the first.
 */
function noteTold(word: TaskWord, runId: RunId): void {
  word.told.push(runId);
  takeBackLost(word, runId);
  if (word.end === undefined && word.runId === runId) word.runId = undefined;
}

/** @returns whether it was among the lost */
function takeBackLost(word: TaskWord, runId: RunId): boolean {
  const others = word.cut.filter((one) => one.runId !== runId || one.reason !== "service-gone");
  const wasLost = others.length < word.cut.length;
  word.cut = others;
  return wasLost;
}

function addTo(word: TaskWord, event: RunEvent, by: Teller): void {
  if (event.kind === "TaskReleased") return noteTold(word, event.runId);
  if (word.end !== undefined) {
    // The first end counts.
    if (event.kind === "TaskEnded" && event.runId !== word.runId) noteTold(word, event.runId);
    return;
  }
  switch (event.kind) {
    case "TaskStarted":
      noteBegun(word, event, by, event.at);
      return;
    case "TaskReturned":
      // The run that has begun in this batch counts as lost, too: it may have gone with its service.
      noteBefore(word, event.isRedelivered ? undefined : word.runId, event.interruption, by);
      word.returned = { isRedelivered: event.isRedelivered, noSlot: event.noSlot === true };
      word.runId = undefined;
      return;
    case "TaskEnded":
      // What was begun after a run that ends all the same is not followed by it, and so not lost.
      if (takeBackLost(word, event.runId)) word.runId = undefined;
      noteBegun(word, event, by, event.startedAt);
      word.end = event;
      return;
    default:
      event satisfies never;
  }
}

/** What came before it, if that is not the run `runId` itself: a run that is told of here, and has not ended, or one of before. */
function noteBefore(word: TaskWord, runId: RunId | undefined, detail: string | undefined, by: Teller): void {
  const isFirst = word.runId === undefined && word.cut.length + word.told.length === 0;
  if (isFirst) word.interruption = detail;
  if (word.runId === undefined || word.runId === runId) return;
  const isElsewhere = word.by.serviceId !== by.serviceId;
  word.cut.push(
    isElsewhere
      ? { runId: word.runId, by: word.by, reason: "service-gone", detail: undefined }
      : { runId: word.runId, by: word.by, reason: "restarted", detail },
  );
}

/** Where the run before has not ended, this is another one of the same message, and that one is lost. */
function noteBegun(
  word: TaskWord,
  { runId, interruption }: { runId: RunId; interruption?: string | undefined },
  by: Teller,
  atMs: number,
): void {
  noteBefore(word, runId, interruption, by);
  word.by = by;
  word.runId = runId;
  word.startedAtMs = atMs;
}
