import { cut, type ErrorText, type ServiceId } from "@unacked/contracts";
import { type ChecksOfCall, checkParams } from "../types/params-check.ts";
import type { TaskWord, TurnedAway } from "./task-words.ts";

/** Services that announce the very same. */
export interface AlikeServices {
  ids: readonly ServiceId[];
  /** Those of them that live, and take tasks. */
  taking: readonly ServiceId[];
  types: readonly VersionOfType[];
}

export interface VersionOfType {
  type: string;
  paramsSchema: Schema;
  /** The same where the schema is the same. */
  version: string;
}

/** A task whose params were refused, as the books have it. */
export interface RefusedTask {
  type: string;
  params: unknown;
  paramsHash: string;
  before: TurnedAway | null;
}

type Schema = Record<string, unknown>;

/**
 * Sent again after about a second, and one more each time, up to this: a service may be found soon, and where many wait they leave room to
 * others. Each waits a half of it more or less. A service that refuses is always free: of those that come all at once it would have all
 * but the few for which the other one has a worker.
 */
const MAX_PAUSE_MS = 5_000;

/** Whether a service says that params do not pass. What a handler throws under this name has a stack. */
export const refusesParams = ({ end }: TaskWord): boolean =>
  end?.outcome === "failed" &&
  end.retryInMs === null &&
  end.error?.name === "InvalidParams" &&
  end.error.stack === undefined;

/** Of these services, the types of which there is more than one version. */
export function typesOfManyVersions(services: readonly AlikeServices[]): string[] {
  const versions = new Map<string, Set<string>>();
  for (const { type, version } of services.flatMap(({ types }) => types))
    versions.set(type, (versions.get(type) ?? new Set()).add(version));
  return [...versions].flatMap(([type, { size }]) => (size > 1 ? [type] : []));
}

/**
 * Pure. What becomes of a task whose params a service refuses: where a living one has a version of its type that takes them, and that version
 * has not refused them, its end is as that of a task whose type the service lacks. So it comes to an end when each has. Elsewhere the end is
 * as it was told, with a word more if it was sent elsewhere before.
 *
 * @param random from 0 up to 1
 */
export function turnedAway(
  word: TaskWord,
  { type, params, paramsHash, before }: RefusedTask,
  services: readonly AlikeServices[],
  checks: ChecksOfCall,
  random: number,
): TaskWord {
  const own = versionAt(services, word.by.serviceId, type);
  if (own === undefined || word.end?.error === undefined) return word;
  const { by: others, turns } = before?.params === paramsHash ? before : { by: [], turns: 0 };
  const by = [...new Set([...others, own])];
  const isTaker = (one: VersionOfType) =>
    one.type === type && !by.includes(one.version) && checkParams(one.paramsSchema, params, checks).length === 0;
  const { error } = word.end;
  if (!services.some((one) => one.taking.length > 0 && one.types.some(isTaker)))
    return turns === 0 ? word : { ...word, end: { ...word.end, error: refusedByAll(error, by.length) } };
  const retryInMs = Math.round(Math.min((turns + 1) * 1_000, MAX_PAUSE_MS) * (0.5 + random));
  const why = refusedHere(error, word.by.serviceName, retryInMs);
  return {
    ...word,
    end: { ...word.end, outcome: "unknown-type", error: why, retryInMs },
    turnedAway: { params: paramsHash, by, turns: turns + 1 },
  };
}

const versionAt = (services: readonly AlikeServices[], id: ServiceId, wanted: string): string | undefined =>
  services.find(({ ids }) => ids.includes(id))?.types.find(({ type }) => type === wanted)?.version;

/** The same text for the same schema, in whatever order its keys were written: PostgreSQL has an order of its own. */
export const inOneOrder = (schema: Schema): string => JSON.stringify(schema, byKey);

const byKey = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** Why it waits comes first, as lists cut what is long. */
function refusedHere({ name, message }: ErrorText, service: string, pauseMs: number): ErrorText {
  const why = `the service "${service}" does not take these params, another version of the type in its pool does`;
  return {
    name,
    message: cut(`${why}: sent again after ${(pauseMs / 1_000).toFixed(1)} s; it said: ${message}`, MAX_MESSAGE),
  };
}

function refusedByAll({ name, message }: ErrorText, versions: number): ErrorText {
  const why =
    versions === 1
      ? "the version of the type that took these params has gone from the pool"
      : `${versions} versions of the type have refused these params, and no other one in the pool takes them`;
  return { name, message: `${cut(message, MAX_MESSAGE - why.length)}; ${why}` };
}

/** A little less than an ErrorText may have. */
const MAX_MESSAGE = 16_000;
