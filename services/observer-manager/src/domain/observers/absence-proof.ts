/** See docs/decisions/0008-proof-of-absence.md. */
export interface Proof {
  markerId: string;
  ageMs: number;
  /** The living services as they were when it began, as `serviceSet` says them. */
  services: string;
  /** A service has told of the marker that went through the work queue. */
  queueSeen: boolean;
  /** The books have read the marker that went through the state queue. */
  stateSeen: boolean;
  /** The last round of inventories that was asked for; 0: none yet. */
  round: number;
  askedAgoMs: number;
  /** The last round that was asked for before both markers were seen; null until then. */
  roundsBefore: number | null;
  /** Rounds go in pairs: the first round of the last pair, and the services as they were when it was asked for. */
  pair: { from: number; services: string } | null;
}

export interface ProofService {
  id: string;
  generation: number;
  /** It is silent, and not proven dead. */
  isSuspect: boolean;
  isDraining: boolean;
  /** For which marker and round it last gave its inventory. */
  answered: { markerId: string; round: number } | null;
}

/** One look at a pool in which all services know markers, in one snapshot of the books. */
export interface ProofSighting {
  proof: Proof | null;
  /** Those that are not known to be gone. */
  services: readonly ProofService[];
  /** The time since the last service of the pool ended; null: none has. */
  sinceDeathMs: number | null;
  /** Observers that nobody is known to run, and for which nothing is to be sent. */
  doubts: {
    count: number;
    /** How long the one has been in doubt that has been so for longest. */
    oldestMs: number;
    /** How many of them have rows as they were when the proof began. */
    unchanged: number;
    /** How many of them are in OnDeleting. */
    deleting: number;
    /** How many of those in OnDeleting have rows as they were when the last pair of rounds began. */
    deletingUnchanged: number;
  };
  /** Messages in the work queue that nobody holds, the marker among them. */
  ready: number;
}

export type ProofStep =
  | { kind: "wait" }
  /** Writes a new row, and sends its markers. */
  | { kind: "begin" }
  | { kind: "ask"; round: number; beginsPair: boolean }
  /**
   * Judges all whose rows are as they were when the proof began, or only those that are being deleted, with rows as when the pair began.
   */
  | { kind: "conclude"; whom: "unchanged" | "deleting" };

/** A marker that nobody has told of by then, though nothing is ready, is lost. */
const LOST_AFTER_MS = 10_000;
/** How long a proof may take, and the broker keeps its marker: it waits in a backlog until its turn comes. */
export const MARKER_LIVES_MS = 3_600_000;
/** A marker that was not seen by then stands in a backlog. */
const STUCK_AFTER_MS = 5_000;
/** What a dead service held is ready again by then. */
const QUIET_AFTER_DEATH_MS = 3_000;
/** An observer that waits in a backlog for less than this is no reason for a marker. */
const DOUBT_IN_BACKLOG_MS = 20_000;
const BETWEEN_ROUNDS_MS = 2_000;
/** An inventory of another reason may have answered the command. */
const ASK_AGAIN_MS = 6_000;

const WAIT: ProofStep = { kind: "wait" };

/** Says which services there are: two looks at the same ones say the same. */
export function serviceSet(services: readonly ProofService[]): string {
  return services
    .map(({ id, generation, isDraining }) => `${id}.${generation}${isDraining ? ".draining" : ""}`)
    .toSorted()
    .join(" ");
}

/** What is to be done next about the observers of a pool that are in doubt. */
export function nextStep(sighting: ProofSighting): ProofStep {
  const { proof, services } = sighting;
  if (sighting.doubts.count === 0 || services.length === 0 || services.some(({ isSuspect }) => isSuspect)) return WAIT;
  if (proof === null || proof.ageMs >= MARKER_LIVES_MS) return begin(sighting);
  const isSame = proof.services === serviceSet(services);
  if (isSame && proof.roundsBefore !== null && sighting.doubts.unchanged > 0)
    return pairAfter(sighting, proof, proof.roundsBefore, "unchanged");
  if (isOver(sighting, proof, isSame)) return begin(sighting);
  const isStuck = !proof.queueSeen && proof.ageMs >= STUCK_AFTER_MS;
  return isStuck && sighting.doubts.deleting > 0 ? pairAfter(sighting, proof, 0, "deleting") : WAIT;
}

/** Nothing more can come of the proof, and none of its markers can be in a queue any more. */
function isOver({ ready }: ProofSighting, { queueSeen, roundsBefore, ageMs }: Proof, isSame: boolean): boolean {
  if (queueSeen) return !isSame || roundsBefore !== null || ageMs >= LOST_AFTER_MS;
  return ready === 0 && ageMs >= LOST_AFTER_MS;
}

function begin({ doubts, ready, sinceDeathMs }: ProofSighting): ProofStep {
  if (sinceDeathMs !== null && sinceDeathMs < QUIET_AFTER_DEATH_MS) return WAIT;
  if (ready > 0 && doubts.deleting === 0 && doubts.oldestMs < DOUBT_IN_BACKLOG_MS) return WAIT;
  return { kind: "begin" };
}

/** Takes two rounds further, both asked for after round `before`, of services that stay the same. */
function pairAfter(
  { services, doubts }: ProofSighting,
  proof: Proof,
  before: number,
  whom: "unchanged" | "deleting",
): ProofStep {
  const { round, pair, markerId, askedAgoMs } = proof;
  const newPair: ProofStep = { kind: "ask", round: round + 1, beginsPair: true };
  if (pair === null || pair.from <= before || pair.services !== serviceSet(services)) return newPair;
  if (!services.every(({ answered }) => answered?.markerId === markerId && answered.round === round))
    return askedAgoMs >= ASK_AGAIN_MS ? { kind: "ask", round, beginsPair: false } : WAIT;
  if (round === pair.from)
    return askedAgoMs >= BETWEEN_ROUNDS_MS ? { kind: "ask", round: round + 1, beginsPair: false } : WAIT;
  if (whom === "unchanged" || doubts.deletingUnchanged > 0) return { kind: "conclude", whom };
  return newPair;
}
