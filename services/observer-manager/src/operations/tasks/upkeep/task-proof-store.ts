import type { TaskId } from "@unacked/contracts";
import type { PoolInDoubt } from "../../../domain/tasks/proof-turns.ts";

/** What is known of a proof (docs/decisions/0032-task-absence.md). */
export interface TaskProof {
  pool: string;
  markerId: string;
  /** Those that have to answer, by `<id>.<generation>`: who may have lived when its marker was seen. */
  services: string[];
  /** How long ago its marker was seen; null: it was not yet. */
  seenAgoMs: number | null;
  beganAgoMs: number;
  /** How long ago they were asked; null: nobody was. */
  askedAgoMs: number | null;
  /** Those that have answered. Those that were gone before its marker was sent count, too: what they had held is in front of it. */
  answered: string[];
}

/** A session of a service that takes tasks, or has something of them. */
export interface TaskSession {
  /** `<id>.<generation>` */
  name: string;
  isLiving: boolean;
  /** It takes tasks. */
  isConsuming: boolean;
  /** It has ended since the proof of its pool began. */
  hasEndedSince: boolean;
}

export interface TaskProofStore {
  poolsInDoubt(): Promise<PoolInDoubt[]>;
  /** Pools that have a proof under way. */
  provenPools(): Promise<string[]>;
  /** Proofs of pools where nobody is in doubt are worth nothing. */
  forgetOthers(pools: string[]): Promise<void>;
  find(pool: string): Promise<TaskProof | undefined>;
  /** Sessions of this pool that live, or are not known to be dead; and that have ended lately. */
  sessions(pool: string): Promise<TaskSession[]>;
  /**
   * Begins a proof. Nothing is judged that runs on those that are `gone`: the broker may keep their messages still, or they may live where
   * it has lost sight of them, as the books have yet to hear.
   * @returns false where another manager has begun one
   */
  begin(proof: { pool: string; markerId: string; services: string[]; gone: string[] }): Promise<boolean>;
  /** @param services that have to answer, too */
  asked(markerId: string, services: string[]): Promise<void>;
  drop(markerId: string): Promise<void>;
  /** Makes Ready what is in no inventory, or Cancelled what somebody has cancelled, if all have answered. */
  conclude(proof: TaskProof): Promise<{ ready: number; cancelled: TaskId[] }>;
  /**
   * Ends tasks that somebody has cancelled, and that ran on services that have ended some time ago: so many are Cancelled, or Ready with
   * what came after the cancel. It needs no proof, as nobody runs them, and no service, as there may be none any more.
   */
  endAbandoned(limit: number): Promise<{ ready: number; cancelled: TaskId[] }>;
}
