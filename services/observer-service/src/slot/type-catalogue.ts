import type { ObserverTypeInfo } from "@unacked/contracts";
import { type ObserverDefinition, SdkError, type TaskDefinition } from "@unacked/sdk";
import { isolationFlaw, isTaskDefinition, paramsJsonSchema, silenceFlaw, unknownFieldsOf } from "@unacked/sdk/host";
import { sendableText } from "../error-text.ts";
import type { LoadedFolder, TaskTypeEntry } from "../wire/messages.ts";

/** The most characters of a schema of params, or of a checkpoint. */
const MAX_SCHEMA = 262_144;
/** The most bytes of all types' schemas together: the message that holds them has at most 4 MiB, with all else. */
const MAX_SCHEMAS = 2_097_152;

/** A type as it is announced, with further facts. */
export interface Described {
  readonly type: string;
  readonly told: { readonly observer: ObserverTypeInfo } | { readonly task: TaskTypeEntry };
  /** Why its params, or its checkpoint, have no JSON Schema. */
  readonly reason: string | undefined;
  readonly unknownFields: readonly string[];
  readonly isolation: ObserverDefinition["isolation"];
}

/**
 * A type as it is announced. A schema without a JSON form is announced as one that accepts everything. Runs code of its file: its schemas,
 * and what it may have put in the place of a definition.
 *
 * @throws SdkError if it asks for something impossible, which older versions of the SDK let pass
 */
export function describeType(definition: ObserverDefinition | TaskDefinition): Described {
  const { type, description = "", isolation, params } = definition;
  const flaw = isolation && isolationFlaw(isolation);
  if (flaw) throw new SdkError("invalid-definition", `type ${type}: isolation${flaw}`);
  const { schema, reason } = boundedSchema(params);
  const info = { type, description: sendableText(description, 1_000), paramsSchema: schema };
  const saved = isTaskDefinition(definition) ? undefined : definition.checkpoint && boundedSchema(definition.checkpoint);
  const told = isTaskDefinition(definition)
    ? { task: { ...info, ...ofTask(definition) } }
    : { observer: { ...info, ...ofObserver(definition), ...(saved && { checkpointSchema: saved.schema }) } };
  return { type, told, reason: reason ?? saved?.reason, unknownFields: [...unknownFieldsOf(definition)], isolation };
}

/**
 * The types of a folder, in the order in which they were loaded. If their schemas are too much, types are announced as accepting
 * everything.
 */
export function catalogueOf(
  described: readonly Described[],
): Pick<LoadedFolder, "types" | "tasks" | "unannounced" | "unknownFields" | "isolation"> {
  const types: ObserverTypeInfo[] = [];
  const tasks: TaskTypeEntry[] = [];
  const unannounced: { type: string; reason: string }[] = [];
  let bytes = 0;
  for (const { type, told, reason } of described) {
    const info = "task" in told ? told.task : told.observer;
    bytes += Buffer.byteLength(JSON.stringify(info));
    const isTooMuch = bytes > MAX_SCHEMAS;
    if (reason !== undefined || isTooMuch) unannounced.push({ type, reason: reason ?? TOO_MUCH });
    if ("task" in told) tasks.push(isTooMuch ? acceptingAll(told.task) : told.task);
    else types.push(isTooMuch ? acceptingAll(told.observer) : told.observer);
  }
  const unknownFields = described.flatMap(({ type, unknownFields: fields }) =>
    fields.length === 0 ? [] : [{ type, fields: [...fields] }],
  );
  const isolation = described.flatMap(({ type, isolation: wish }) => (wish ? [{ type, ...wish }] : []));
  return { types, tasks, unannounced, unknownFields, isolation };
}

/** An observer that saves keeps saying so. */
const acceptingAll = <Info extends ObserverTypeInfo | TaskTypeEntry>(info: Info): Info => ({
  ...info,
  paramsSchema: {},
  ...("checkpointSchema" in info && { checkpointSchema: {} }),
});

const TOO_MUCH = "with those of the types before it, it is more than a service announces";

function ofObserver({ type, silence, start, onUpdate }: ObserverDefinition): Partial<ObserverTypeInfo> {
  const flaw = silence && silenceFlaw(silence);
  if (flaw) throw new SdkError("invalid-definition", `type ${type}: silence${flaw}`);
  return {
    ...(start === "admitted" && { start }),
    ...(onUpdate && { onUpdate: true as const }),
    ...(silence && { silence }),
  };
}

const ofTask = ({ retry, timeoutMs, batch }: TaskDefinition) => ({
  retry,
  ...(timeoutMs !== undefined && { timeoutMs }),
  ...(batch !== undefined && { batch: batch.size }),
});

function boundedSchema(params: ObserverDefinition["params"]): ReturnType<typeof paramsJsonSchema> {
  const { schema, reason } = paramsJsonSchema({ params });
  const { length } = JSON.stringify(schema);
  if (length <= MAX_SCHEMA) return { schema, ...(reason !== undefined && { reason: sendableText(reason, 2_000) }) };
  return { schema: {}, reason: `it has ${length} characters as JSON Schema, and may have ${MAX_SCHEMA}` };
}
