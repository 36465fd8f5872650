import { EntitySchema } from "typeorm";
import { column, nullable, primary } from "./column.ts";

/** One row a boot of a service. Kept for RETENTION_DAYS after its end. */
export const ServicesTable = new EntitySchema({
  name: "Service",
  tableName: "services",
  columns: {
    id: primary("uuid"),
    name: column("text"),
    pool: column("text"),
    /** Alive, Suspect (silent, not proven dead), Stopped, Gone. */
    state: column("text"),
    /** none, asked, begun, cordon-asked, cordoned, lift-asked */
    drain: column("text"),
    /** Number of its connection to the broker; a new one counts it up. */
    generation: column("integer"),
    /** The last batch of events that was applied. */
    lastSeq: column("bigint", "last_seq"),
    workerCount: column("integer", "worker_count"),
    /** How many observers run there, as it said itself. */
    running: column("integer"),
    types: column("jsonb"),
    /** Made of `types` by PostgreSQL: the same without what is long, and a number that is equal for equal types. */
    typeFacts: column("jsonb", "type_facts"),
    typesHash: column("bigint", "types_hash"),
    features: column("jsonb"),
    /** By type, what it has emitted since its boot, as it told last; null: it has not told. */
    emits: nullable("jsonb"),
    brokenFiles: column("jsonb", "broken_files"),
    slots: column("jsonb"),
    slotDeaths: column("jsonb", "slot_deaths"),
    slotDeathsLately: column("integer", "slot_deaths_lately"),
    /** Why it takes no observers for now, for want of memory. */
    notConsuming: nullable("text", "not_consuming"),
    version: column("text"),
    host: column("text"),
    pid: column("integer"),
    /** As agreed with the broker. */
    heartbeatMs: column("integer", "heartbeat_ms"),
    memoryBytes: column("bigint", "memory_bytes"),
    eventLoopLagMs: column("double precision", "event_loop_lag_ms"),
    startedAt: column("timestamptz", "started_at"),
    lastSeenAt: column("timestamptz", "last_seen_at"),
    inventoryAt: nullable("timestamptz", "inventory_at"),
    /** For which marker and round it gave its inventory last (docs/decisions/0008-proof-of-absence.md). */
    answeredMarker: nullable("uuid", "answered_marker"),
    answeredRound: nullable("integer", "answered_round"),
    /** Why it lost its broker last. */
    brokerLoss: nullable("jsonb", "broker_loss"),
    /** The load of its folder that was asked for last. */
    reloadId: nullable("uuid", "reload_id"),
    reloadAskedAt: nullable("timestamptz", "reload_asked_at"),
    /** What became of that load; null: it has not told. */
    reloadAnswer: nullable("jsonb", "reload_answer"),
    endedAt: nullable("timestamptz", "ended_at"),
    endReason: nullable("text", "end_reason"),
    changedXid: column("xid8", "changed_xid"),
  },
  indices: [
    { name: "services_by_name" },
    { name: "services_living" },
    { name: "services_gone" },
    { name: "services_changed" },
  ],
});

/** One row a living manager, renewed every few seconds. */
export const ManagersTable = new EntitySchema({
  name: "Manager",
  tableName: "managers",
  columns: {
    id: primary("uuid"),
    version: column("text"),
    features: column("jsonb"),
    /** Whether it reads the state queue. */
    isConsuming: column("boolean", "is_consuming"),
    startedAt: column("timestamptz", "started_at"),
    seenAt: column("timestamptz", "seen_at"),
  },
});

/** A handful of rows: what all managers have been seen to know, until one is seen that may not. */
export const KnownFeaturesTable = new EntitySchema({
  name: "KnownFeature",
  tableName: "known_features",
  columns: {
    feature: primary("text"),
    knownAt: column("timestamptz", "known_at"),
  },
});

/** One row a pool in which somebody is in doubt (docs/decisions/0008-proof-of-absence.md). */
export const AbsenceProofsTable = new EntitySchema({
  name: "AbsenceProof",
  tableName: "absence_proofs",
  columns: {
    pool: primary("text"),
    markerId: column("uuid", "marker_id"),
    begunAt: column("timestamptz", "begun_at"),
    snapshot: column("pg_snapshot"),
    notJudged: { type: "uuid", name: "not_judged", array: true },
    services: column("text"),
    queueSeenAt: nullable("timestamptz", "queue_seen_at"),
    stateSeenAt: nullable("timestamptz", "state_seen_at"),
    round: column("integer"),
    askedAt: column("timestamptz", "asked_at"),
    roundsBefore: nullable("integer", "rounds_before"),
    pairFrom: nullable("integer", "pair_from"),
    pairServices: nullable("text", "pair_services"),
    pairSnapshot: nullable("pg_snapshot", "pair_snapshot"),
  },
});
