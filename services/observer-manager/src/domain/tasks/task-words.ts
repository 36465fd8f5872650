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
  /** Runs that were followed by others here without having ended; and those of them that went with their service, as far as is told. */
  interruptions: number;
  lost: RunId[];
  /** Nobody has its message any more, and it has not ended. */
  returned: { isRedelivered: boolean; noSlot: boolean } | undefined;
  /** The first end that was told. */
  end: TaskEnded | undefined;
  /** The pool of the service, and so of the task. */
  pool: string;
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
  interruptions: 0,
  lost: [],
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
  if (!word.lost.includes(runId)) return false;
  word.lost = word.lost.filter((lost) => lost !== runId);
  word.interruptions -= 1;
  return true;
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
      noteBegun(word, event.runId, by, event.at);
      return;
    case "TaskReturned":
      // The run that has begun in this batch counts as lost, too: it may have gone with its service.
      if (event.isRedelivered && word.runId !== undefined) noteLost(word, word.runId, by);
      word.returned = { isRedelivered: event.isRedelivered, noSlot: event.noSlot === true };
      word.runId = undefined;
      return;
    case "TaskEnded":
      // What was begun after a run that ends all the same is not followed by it, and so not lost.
      if (takeBackLost(word, event.runId)) word.runId = undefined;
      noteBegun(word, event.runId, by, event.startedAt);
      word.end = event;
      return;
    default:
      event satisfies never;
  }
}

function noteLost(word: TaskWord, runId: RunId, by: Teller): void {
  word.interruptions += 1;
  if (word.by.serviceId !== by.serviceId) word.lost.push(runId);
}

/** Where the run before has not ended, this is another one of the same message, and that one is lost. */
function noteBegun(word: TaskWord, runId: RunId, by: Teller, atMs: number): void {
  if (word.runId !== undefined && word.runId !== runId) noteLost(word, word.runId, by);
  word.by = by;
  word.runId = runId;
  word.startedAtMs = atMs;
}
