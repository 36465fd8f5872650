import type { SendId, StartTask, TaskId } from "@unacked/contracts";
import type { Claimed, TypePace } from "../../../domain/tasks/bundles.ts";
import type { UnwantedSend } from "../unwanted-send.ts";

export interface Outlook {
  /** Something is Ready, and somebody is there to take it. */
  isAnyReady: boolean;
  isCancelDue: boolean;
  /** The time until the next task is due, not above 0 where it is; null when there is none. */
  nextDueInMs: number | null;
  paces: Awaited<ReturnType<TaskQueueStore["paces"]>>;
  servedPools: Awaited<ReturnType<TaskQueueStore["servedPools"]>>;
}

/** Tasks that wait for a worker, in the database. No call leaves a transaction open; all reject while it is away. */
export interface TaskQueueStore {
  /** Whether there is anything to do, with what `waitingPools`, `takeCancelsDue` and `promoteDue` would find, and what else is to be known meanwhile. */
  outlook(): Promise<Outlook>;
  /** Makes Ready what is due. @returns how many, and in how many ms the next one is due: null when there is none */
  promoteDue(limit: number): Promise<{ promoted: number; nextDueInMs: number | null }>;
  /** Workers of services that live and do not drain, by pool, and the types that they have; only of pools in which something is Ready. */
  waitingPools(): Promise<{ pool: string; workers: number; types: string[] }[]>;
  /** Each pool with services that live and do not drain: their workers, the types that they have, and whether any of these is limited. */
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
    tasks: Claimed[];
    nextRoomInMs: number | null;
    keepsWorkers: boolean;
    roomAhead: number;
    isAll: boolean;
    /** Some were given back, as one claim does not read the params and inputs of all: the window has room for them. */
    isCut: boolean;
    /** No type here is limited, or takes batches, and nothing was given back: what is left waits for room in the window alone. */
    isPlain: boolean;
  }>;
  /** Claims so many more of this one's type, which was claimed just before, as far as its limits allow: they go with it. */
  claimCompanions(pool: string, task: StartTask, count: number): Promise<Claimed[]>;
  /**
   * Claims more of a type, none of which was sent before, as far as its rate allows: each joins that of these lanes which its turn names.
   */
  claimJoiners(pool: string, type: string, lanes: TaskId[], turns: number[]): Promise<Claimed[]>;
  /** How many of a type are Ready in a pool; not beyond `atMost`. */
  countReady(pool: string, type: string, atMost: number): Promise<number>;
  /** Makes them Ready again, with all that was before: their messages were certainly not taken. */
  giveBack(sent: readonly { taskId: TaskId; sendId: SendId }[]): Promise<void>;
  /**
   * Makes them Ready again, as if they had not been claimed: nobody has tried to send them. They count as no sends, and no starts of their
   * types.
   */
  unclaim(claimed: readonly { taskId: TaskId; sendId: SendId }[]): Promise<void>;
  /** Takes tasks that somebody has cancelled while they ran, and whose service has not been told for some seconds. */
  takeCancelsDue(limit: number): Promise<UnwantedSend[]>;
}
