import type {
  ChangeTask,
  CreateTask,
  SendId,
  ServiceId,
  StartTask,
  TASK_OVER_STATUSES,
  TaskId,
  TaskStatus,
  TaskView,
} from "@unacked/contracts";
import type { Bundle, Claimed, TypePace } from "../../domain/tasks/bundles.ts";
import type { TaskNews } from "../../domain/tasks/task-words.ts";
import type { Action } from "../access/audit.ts";

/** The tables of tasks as the operations see them. No call leaves a transaction open; those of the database reject while it is away. */

/** An attempt that nobody wants (any more), and who has it. */
export interface UnwantedAttempt {
  serviceId: ServiceId;
  generation: number;
  taskId: TaskId;
  sendId: SendId;
}

/** A task that is over now. */
export interface OverTask {
  id: TaskId;
  status: (typeof TASK_OVER_STATUSES)[number];
}

/** A task that somebody asks for. */
export interface Creation {
  task: NewTask;
  /** For the audit trail. */
  action: Action;
  /** False: nobody looks at what it is like now, and it is not found out why it waits. */
  isShown?: boolean;
}

/** What the handler of a send wants to be created if it has completed its task. */
export interface SendCreations {
  wanted: NewTask[];
  /** Before it was tried. */
  refused: RefusedCreation[];
}

/** As it is shown with its creator. */
export type RefusedCreation = NonNullable<TaskView["refused"]>[number];

/** Some of what was to be written has been: nothing of it was written now. */
export class AppliedBefore extends Error {
  readonly code = "applied-before";
}

export interface TaskLedgerStore {
  /** Of services: the number of the last batch that was applied. */
  lastSeqs(services: ServiceId[]): Promise<Map<ServiceId, number>>;
  /**
   * Writes all of it in one transaction, and nothing twice; with it what ended sends want to be created, each for itself: where one is
   * refused, its creator says so. Rejects with AppliedBefore where somebody has applied a batch of these numbers. @returns what is over
   * now, what is to be stopped, whether something that is over may be of a flow, and `behind`: pools in which something that was told before is not in the
   * books
   */
  apply(
    news: TaskNews,
    creations?: ReadonlyMap<SendId, SendCreations>,
  ): Promise<{ over: OverTask[]; unwanted: UnwantedAttempt[]; hasFlowEnds: boolean; behind: string[] }>;
  /** Forgets services that are gone for so long that nothing of them can come any more, and with them the types that they had. @returns how many */
  forgetGone(limit: number): Promise<number>;
}

export type ClaimedTask = Claimed;

export interface Outlook {
  /** And somebody is there to take it. */
  isAnyReady: boolean;
  isCancelDue: boolean;
  /** Not above 0 where it is due; null when there is none. */
  nextDueInMs: number | null;
  paces: Awaited<ReturnType<TaskQueueStore["paces"]>>;
  servedPools: Awaited<ReturnType<TaskQueueStore["servedPools"]>>;
}

export interface TaskQueueStore {
  /** Whether there is anything to do, with what `waitingPools`, `takeCancelsDue` and `promoteDue` would find, and what else is to be known meanwhile. */
  outlook(): Promise<Outlook>;
  /** Makes Ready what is due. @returns how many, and in how many ms the next one is due: null when there is none */
  promoteDue(limit: number): Promise<{ promoted: number; nextDueInMs: number | null }>;
  /** Workers of services that live and do not drain, by pool, and the types that they have; only of pools in which something is Ready. */
  waitingPools(): Promise<{ pool: string; workers: number; types: string[] }[]>;
  /** Of each pool with services that live and do not drain: their workers, the types that they have, and whether any of these is limited. */
  servedPools(): Promise<{ pool: string; workers: number; types: string[]; isLimited: boolean }[]>;
  /** How long tasks of a type take in a pool, where its services have seen enough of them, and how many they give to one call. */
  paces(): Promise<({ pool: string; type: string } & TypePace)[]>;
  /**
   * Claims so many of these types that `window` are Sent or Running, as far as the limits of their types allow; a call for many (of the types in
   * `batches`, with how many it takes) counts as one; none while another manager claims
   * in this pool. @returns also when a type that its rate holds back may go on (null: none is), and whether workers are kept for a
   * type: then no task may wait in the line of a worker while another is free; how many more the window has room for, less than
   * none where it is too full: so many may follow these in their lanes; and whether
   * that was all that waited in this pool: then nothing more can be claimed before something is made Ready
   */
  claim(
    pool: string,
    asked: { window: number; workers: number; types: string[]; batches?: ReadonlyMap<string, number> },
  ): Promise<{
    tasks: ClaimedTask[];
    nextRoomInMs: number | null;
    keepsWorkers: boolean;
    roomAhead: number;
    isAll: boolean;
    /** Some were given back, as one claim does not read the params and inputs of all: the window has room for them. */
    isCut: boolean;
    /** No type here is limited, or takes batches, and nothing was given back: what is left waits for room in the window alone. */
    isPlain: boolean;
  }>;
  /** So many more of the type of this one, claimed just before, as far as its limits allow: they go with it. */
  claimCompanions(pool: string, task: StartTask, count: number): Promise<ClaimedTask[]>;
  /** More of a type, none of which was sent before, as far as its rate allows: each joins that of these lanes which its turn names. */
  claimJoiners(pool: string, type: string, lanes: TaskId[], turns: number[]): Promise<ClaimedTask[]>;
  /** How many of a type are Ready in a pool; not beyond `atMost`. */
  countReady(pool: string, type: string, atMost: number): Promise<number>;
  /** Ready again, with all that was before: their messages were certainly not taken. */
  giveBack(sent: readonly { taskId: TaskId; sendId: SendId }[]): Promise<void>;
  /** Ready again, as if they had not been claimed: nobody has tried to send them. No sends, and no starts of their types. */
  unclaim(claimed: readonly { taskId: TaskId; sendId: SendId }[]): Promise<void>;
  /** Of tasks that somebody has cancelled while they ran: those whose service has not been told for some seconds. */
  takeCancelsDue(limit: number): Promise<UnwantedAttempt[]>;
}

/** A task about to be: already valid. */
export interface NewTask extends Omit<CreateTask, "id"> {
  id: TaskId;
  /** The id was made for it just now: no task that is over can have had it. */
  hasNewId?: true;
  /** Whose handler created it. */
  parentId?: TaskId;
  /** Who asks may meet, by its key or its id, a task of these pools alone. Undefined: of any. */
  within?: readonly string[] | undefined;
}

/** Tasks of this pool may be Sent as they are created, if nothing else is due there: so many calls are to be in flight, of these types. */
export interface AtOnce {
  pool: string;
  window: number;
  types: readonly string[];
  /**
   * The types of the pool that take batches, and how many tasks one call takes; of any other a task is a call. None where none of them is created:
   * then each task in flight is counted, which is sooner done, and no fewer.
   */
  batches: ReadonlyMap<string, number>;
  /** Told where an insert was given up, as it has waited for somebody else's lock; they are then created without this. */
  heldUp?(): void;
}

export type InsertOutcome =
  /** `sendId`: it is Sent, and whoever has created it publishes it; null: it waits. */
  | (Accepted<"created"> & { sendId: SendId | null })
  | Accepted<"exists" | "returned" | "replaced" | "queued">
  | { kind: "taken" }
  | { kind: "key-taken"; winner: TaskId }
  /** By a task of a pool that whoever asks may not have: nothing more is said of it. */
  | { kind: "key-elsewhere" }
  /** Somebody's transaction has its key, and has not ended. */
  | { kind: "held-up" };

/** The task that it made, or that was there: its id, and the whole of it for whom it is to be shown to, which nobody is where thousands are made. */
export interface Accepted<Kind extends string> {
  kind: Kind;
  id: TaskId;
  task(): TaskView;
  /** It is one of many that are there, and shown without params and result. */
  isShort?: boolean;
}

export interface TaskQuery {
  statuses?: TaskStatus[] | undefined;
  type?: string | undefined;
  pool?: string | undefined;
  /** How its id begins: lower case, with hyphens. */
  idStart?: string | undefined;
  limit: number;
  after?: { createdAtMicros: string; id: string } | undefined;
}

export interface TaskStore {
  /**
   * Each for itself, in order: created, there already by its id with the same body, or its id is taken; and where another task has its
   * key, what it wants to become of that. `sending` is for those without keys.
   */
  insert(tasks: Creation[], sending?: AtOnce): Promise<InsertOutcome[]>;
  find(id: TaskId): Promise<TaskView | undefined>;
  /** Those of these that are over. */
  findOver(ids: TaskId[]): Promise<TaskId[]>;
  list(
    query: TaskQuery,
  ): Promise<{ items: TaskView[]; total: number; isTotalExact: boolean; last?: { createdAtMicros: string; id: string } }>;
  /** `over`: it is now (`refuse`: those that its message may come to) · `ordered`: it runs, and its service is to be told · `was-over`: before. */
  cancel(
    id: TaskId,
    action: Action,
  ): Promise<{ kind: "over" | "ordered"; task: TaskView; refuse: UnwantedAttempt[] } | { kind: "was-over" | "not-found" }>;
  change(
    id: TaskId,
    change: ChangeTask,
    action: Action,
  ): Promise<{ kind: "changed"; task: TaskView } | { kind: "was-over" | "not-found" }>;
  retry(
    id: TaskId,
    action: Action,
  ): Promise<
    | { kind: "retried"; task: TaskView }
    | { kind: "not-retryable" | "not-found" }
    | { kind: "key-taken"; winner: TaskId }
    /** Somebody's transaction has its key, and has not ended. */
    | { kind: "held-up"; key: string | null }
    /** It is over, and of a flow: that is run again as a whole. */
    | { kind: "of-flow"; flowId: string }
  >;
}

/** Tasks that are not over, and the task workers that there are: the most frequent first. */
export interface TaskCounts {
  byType: { type: string; status: TaskStatus; count: number }[];
  pools: { pool: string; workers: number; wanted: number; oldestReadyS: number }[];
}

/** Which tasks a bulk change is about. */
export type TaskTarget = { ids: TaskId[] } | Pick<TaskQuery, "statuses" | "type" | "pool">;

export interface TaskBulkStore {
  /** The first of those that may be cancelled, or retried. */
  find(kind: "cancel" | "retry", target: TaskTarget, limit: number): Promise<TaskId[]>;
  /** Those of these that still match and do not run are over now; those that run are to be told. @returns how many, and whom to tell */
  cancelMany(
    ids: TaskId[],
    target: TaskTarget,
    action: Action,
  ): Promise<{ accepted: number; over: TaskId[]; refuse: UnwantedAttempt[] }>;
  /** Those of these that still match; but not one whose key another has. @returns how many run again */
  retryMany(ids: TaskId[], target: TaskTarget, action: Action): Promise<number>;
}

export interface TaskTypeStore {
  /**
   * What living services of a pool announced, each version of a type once; `services` is how many of them live. `outside`: types that
   * are created all the same; left out without a service.
   */
  liveTypes(pool: string): Promise<{
    services: number;
    types: { type: string; paramsSchema: Record<string, unknown> }[];
    outside: string[];
  }>;
  /** Those of these that there are, over or not. */
  thereAmong(ids: TaskId[]): Promise<TaskId[]>;
}

/** Broker side. */
export interface TaskSender {
  /** Resolves when messages can be sent: connected and not blocked by an alarm. */
  ready(signal: AbortSignal): Promise<void>;
  /** Whether that is so now. */
  readonly isReady: boolean;
  /** `not-taken`: certainly in no queue · `unknown`: nobody knows. Never rejects. */
  /** In one message: of one pool and type. */
  send(bundle: Bundle): Promise<"sent" | "not-taken" | "unknown">;
  /** Once; what is lost is ordered again: of what the books have, while they do; of all else when its service says again that it runs. Never rejects. */
  cancel(attempts: UnwantedAttempt[]): Promise<void>;
}
