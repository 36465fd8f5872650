import { z } from "zod";
import { count } from "./bounds.ts";
import { newUuid } from "./new-uuid.ts";
import { plainText, quick } from "./quick.ts";

/** As nearly all are: in lower case, of a version and a variant that all take. */
const isPlainUuid = plainText(/^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, 36);

/** Any RFC 9562 UUID, kept in lower case as PostgreSQL prints it, so that equal ids are equal strings. */
const uuid = quick(z.uuid().toLowerCase(), isPlainUuid);

export const ObserverId = uuid.brand<"ObserverId">();
export type ObserverId = z.infer<typeof ObserverId>;

/** One run: one life of an observer on one service. Made by the service (UUIDv7). */
export const RunId = uuid.brand<"RunId">();
export type RunId = z.infer<typeof RunId>;

/** A new id for every publish of a StartObserver: two runs of one messageId come from one redelivered message. */
export const MessageId = uuid.brand<"MessageId">();
export type MessageId = z.infer<typeof MessageId>;

/** One boot of an observer-service. */
export const ServiceId = uuid.brand<"ServiceId">();
export type ServiceId = z.infer<typeof ServiceId>;

/**
 * A task: chosen by the client, or made by the manager (UUIDv7). Whatever PostgreSQL takes for a UUID: `unacked_create_task` once took it as
 * well, and those that are there are to run, to be shown and to be cancelled.
 */
export const TaskId = quick(z.guid().toLowerCase().brand<"TaskId">(), isPlainUuid);
export type TaskId = z.infer<typeof TaskId>;

/** A task's id that a client chooses. */
export const ChosenTaskId = uuid.brand<"TaskId">();

/** Made by each claim of a task: what is told of an older send changes nothing (docs/decisions/0011-tasks.md). */
export const SendId = uuid.brand<"SendId">();
export type SendId = z.infer<typeof SendId>;

/** A timer: chosen by the client. */
export const TimerId = uuid.brand<"TimerId">();
export type TimerId = z.infer<typeof TimerId>;

/** A flow: chosen by the client, or made by the manager (UUIDv7). */
export const FlowId = uuid.brand<"FlowId">();
export type FlowId = z.infer<typeof FlowId>;

/** A request to run a schedule now: chosen by the client. */
export const RequestedRunId = uuid.brand<"RequestedRunId">();
export type RequestedRunId = z.infer<typeof RequestedRunId>;

/** The id of a bulk change of very many: chosen by the client, or made by the manager (UUIDv7). */
export const WorkId = uuid.brand<"WorkId">();
export type WorkId = z.infer<typeof WorkId>;

export const newWorkId = (): WorkId => newUuid() as WorkId;
export const newFlowId = (): FlowId => newUuid() as FlowId;
export const newTaskId = (): TaskId => newUuid() as TaskId;
export const newObserverId = (): ObserverId => newUuid() as ObserverId;
export const newRunId = (): RunId => newUuid() as RunId;
export const newMessageId = (): MessageId => newUuid() as MessageId;
export const newServiceId = (): ServiceId => newUuid() as ServiceId;
/** An id for an entry of the audit trail. */
export const newAuditId = (): string => newUuid();
/** An id for the commands that a manager has claimed to send. */
export const newClaimId = (): string => newUuid();

const UUID_SHAPE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const looksLikeUuid = (text: string): boolean => UUID_SHAPE.test(text);

/** The names that people give to things. */
const name = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[A-Za-z0-9._:-]+$/, "only A-Z a-z 0-9 . _ : - are allowed");

const WORD = /^[A-Za-z0-9._-]+$/;

/** A name without colons. */
const word = (maxLength: number) => {
  const schema = z.string().min(1).max(maxLength).regex(WORD, "only A-Z a-z 0-9 . _ - are allowed");
  return quick(schema, plainText(WORD, maxLength));
};

/** 1–128 of `A–Z a–z 0–9 . _ : -`, not shaped like a UUID, so that a path can take a name or an id. */
export const ObserverName = name.refine(
  (text) => !looksLikeUuid(text),
  "a name must not look like a UUID: a path takes either",
);

/**
 * The name of an observer to be created. It is not `.` or `..`, which would name another path, as clients normalise paths (RFC 3986,
 * 5.2.4).
 */
export const NewObserverName = ObserverName.refine(
  (text) => text !== "." && text !== "..",
  "a path takes it, so it is not . or ..",
);

/**
 * The name of an observer type, as `defineObserver` announces it. It has no colons, as `outputKey` replaces each dot by one.
 */
export const TypeName = word(64);

/** The name of a task within its flow. It may be a type's name. */
export const FlowRef = word(64).refine((ref) => ref !== "__proto__", "__proto__ is not allowed");

/** The name of a timer is the routing key of its message, which the broker holds to 255 bytes. */
export const TimerName = word(200);

/** The id of a schedule, chosen by the client. */
export const ScheduleId = name;

const POOL = /^[A-Za-z0-9_-]+$/;

/** The name of a pool, which names its work queue (`unacked.work.<pool>`). */
export const PoolName = quick(
  z.string().min(1).max(64).regex(POOL, "only A-Z a-z 0-9 _ - are allowed"),
  plainText(POOL, 64),
);

/** A stable name given to a service at deploy; it outlives the process, the serviceId does not. */
export const ServiceName = name;

export const MAX_LABELS = 32;

/** Up to 32 pairs; keys and values follow the pattern of names. */
export const Labels = z
  .record(name, name)
  .refine((labels) => Object.keys(labels).length <= MAX_LABELS, `at most ${MAX_LABELS} labels`);
export type Labels = z.infer<typeof Labels>;

/** Counts how often the manager sent an observer again on purpose. Starts at 1. */
export const Revision = count(1);

/**
 * The fencing token of an admitted run. It rises with each run, even after an older dump of the database was restored. Below 2^53,
 * so a `number`; in SQL a `bigint`.
 */
export const FencingToken = z.int().min(1);

export const DEFAULT_POOL = "default";
