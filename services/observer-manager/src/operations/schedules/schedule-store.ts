import type {
  OccurrencePage,
  OccurrenceReason,
  OccurrenceStatusName,
  OccurrenceView,
  RequestedRunId,
  RunSchedule,
  SchedulePage,
  ScheduleStatusName,
  ScheduleView,
  TaskId,
  Wanted,
} from "@unacked/contracts";
import type { Definition, TaskDefinition } from "../../domain/schedules/definition.ts";
import type { Action } from "../access/audit.ts";
import type { NewTask } from "../tasks/creations/new-task.ts";
import type { UnwantedSend } from "../tasks/unwanted-send.ts";

/** A schedule as the books have it, locked. Times are ms by PostgreSQL's clock. */
export interface ScheduleState {
  id: string;
  definition: Definition;
  createdMs: number;
  version: number;
  isPaused: boolean;
  /** Its first time that nothing was decided about; null: paused, or over. */
  nextMs: number | null;
  /** The last time that something was decided about, but for what somebody asked for. */
  lastMs: number | null;
  /** What it wants of observers, since when. */
  wanted: Wanted | null;
  changeMs: number | null;
  /** Why nothing could be decided about it when it was last due. */
  problem: string | null;
}

export interface TaskScheduleState extends ScheduleState {
  definition: TaskDefinition;
  nextMs: number;
  underWay: UnderWay;
}

/** Tasks that are not over, and how many wait for their turn. */
export interface Lane {
  running: TaskId[];
  queued: number;
}

/** What comes by time, or is run by hand, and beside it what a backfill does: neither sees the other, but for the key that they may have. */
export type LaneName = "regular" | "backfill";
export type UnderWay = Record<LaneName, Lane>;

export interface NewOccurrence {
  atMs: number;
  status: OccurrenceStatusName;
  cause: OccurrenceView["cause"];
  reason?: OccurrenceReason;
  /** A started one has it: the task that is created with it. */
  task?: NewTask;
  /** Whether others wait for its end, or are skipped until then. */
  isOpen?: boolean;
  /** Where another task has its key it is queued, if this is true; else it is skipped. */
  mayWait?: boolean;
  wanted?: Wanted;
  lateMs: number;
  earlierMissed?: number;
  by?: string;
  request?: RunRequest;
}

/** The id by which somebody has asked for it, and the policy. */
export interface RunRequest {
  id: RequestedRunId;
  overlap: RunSchedule["overlap"];
}

/** When it is looked at again. */
export interface Plan {
  nextMs: number | null;
  dueMs: number | null;
}

/** What becomes of one schedule: all of it, or nothing. */
export interface ScheduleDecision {
  id: string;
  version: number;
  occurrences: NewOccurrence[];
  /** Tasks that one of these takes the place of. */
  cancel: TaskId[];
  /** Undefined: it stays as it was. */
  plan: (Plan & { lastMs: number | null }) | undefined;
  missed: number;
  problem: string | null;
}

/** What the transaction came to. */
export interface Decided {
  occurrences: { status: OccurrenceStatusName; lateMs: number; isByTime: boolean }[];
  /** Tasks that were created: the dispatcher has work. */
  created: number;
  /** Tasks that were cancelled; some are over already, or to be refused by those who may have them. */
  cancelled: number;
  over: TaskId[];
  refuse: UnwantedSend[];
}

export interface ScheduleQuery {
  statuses?: readonly ScheduleStatusName[] | undefined;
  type?: string | undefined;
  q?: string | undefined;
  limit: number;
  /** The last id of the page before. */
  after?: string | undefined;
}

export interface OccurrenceQuery {
  statuses?: readonly OccurrenceStatusName[] | undefined;
  limit: number;
  /** Microseconds of the last one of the page before. */
  afterMicros?: string | undefined;
}

/** What becomes of a schedule by a request. */
export interface ScheduleChange<Answer> {
  decision?: ScheduleDecision;
  answer: Answer;
}

/** A schedule with what is under way of it. */
export type Standing = ScheduleState & { underWay: UnderWay };

/** What there is of the times from one instant on and before another. */
export type Existing = (fromMs: number, toMs: number) => Promise<Map<number, OccurrenceStatusName>>;

/** What was made of a request; undefined: it is not remembered, or was never made. */
export type Requested = (id: RequestedRunId) => Promise<{ atMs: number; overlap: string | null } | undefined>;

export type ScheduleWork<Answer> = (
  state: Standing,
  nowMs: number,
  books: { existing: Existing; requested: Requested },
) => Promise<ScheduleChange<Answer>>;

/** The tables of schedules as the operations see them. Each call is one transaction. */
export interface ScheduleStore {
  /** @param plan what it is to do next, by what was there before */
  put(
    id: string,
    definition: Definition,
    plan: (before: ScheduleState | undefined, nowMs: number) => Plan & { decision?: ScheduleDecision },
    action: Action,
  ): Promise<{ kind: "created" | "exists" | "replaced"; schedule: ScheduleView }>;
  /** @returns false: there is none */
  remove(id: string, action: Action): Promise<boolean>;
  /** @param missed what is told of times that nobody has decided about */
  pause(
    id: string,
    missed: (before: ScheduleState, nowMs: number) => ScheduleDecision | undefined,
    action: Action,
  ): Promise<ScheduleView | undefined>;
  resume(
    id: string,
    plan: (before: ScheduleState, nowMs: number) => Plan,
    action: Action,
  ): Promise<ScheduleView | undefined>;
  /** Starts some that somebody asks for. @returns undefined: there is none */
  change<Answer>(
    id: string,
    work: ScheduleWork<Answer>,
    action: Action,
  ): Promise<{ answer: Answer; decided: Decided } | undefined>;
  find(id: string): Promise<ScheduleView | undefined>;
  read(id: string): Promise<Pick<ScheduleState, "definition" | "version" | "nextMs" | "lastMs"> | undefined>;
  /** PostgreSQL's clock. */
  nowMs(): Promise<number>;
  list(query: ScheduleQuery): Promise<Omit<SchedulePage, "nextCursor"> & { last?: string }>;
  findOccurrence(id: string, atMs: number): Promise<OccurrenceView | undefined>;
  /** @returns undefined: there is no such schedule */
  listOccurrences(
    id: string,
    query: OccurrenceQuery,
  ): Promise<(Omit<OccurrencePage, "nextCursor"> & { lastMicros?: string }) | undefined>;
}

/**
 * What became of those that were claimed. `decided`: how many, with those that could not be written and are due again later. `problems`:
 * those that are new.
 */
export type Fired = Decided & {
  claimed: number;
  decided: number;
  putOff: { id: string; error: unknown }[];
  problems: { id: string; problem: string }[];
};

/** What makes tasks by the calendar. Each call is one transaction; where that fails, one for each schedule, so that one is not in the way of others. */
export interface ScheduleFiringStore {
  /** Locks what is due, and writes what is decided about it; what nothing is decided about is due as before. */
  fire(limit: number, decide: (states: TaskScheduleState[], nowMs: number) => ScheduleDecision[]): Promise<Fired>;
  /** Starts the first that is queued of schedules whose tasks are all over, and whose key nobody has; of a backfill likewise, beside the others. */
  startQueued(
    limit: number,
    taskOf: (state: TaskScheduleState, time: Pick<NewOccurrence, "cause" | "atMs">) => NewTask,
  ): Promise<Fired>;
  /** What there is to do. `dueInMs`: until the next one is due, 0 or less: one is; null: none will be. */
  ahead(): Promise<{ dueInMs: number | null; isAnyQueued: boolean }>;
}

export interface ScheduleCounts {
  byStatus: { status: ScheduleStatusName; count: number }[];
  /** For how long the one that is due for longest has been due; 0 without one. */
  oldestDueS: number;
}
