import type { ObserverTypeInfo } from "@unacked/contracts";
import { paramsJsonSchema, unknownFieldsOf } from "@unacked/sdk";
import { sendableText } from "../error-text.ts";
import type { TaskTypeEntry } from "../wire/messages.ts";
import type { ObserverTypes, TaskTypes } from "./load-observers.ts";

/** A type whose params have no JSON Schema, and why. */
export interface Unannounced {
  readonly type: string;
  readonly reason: string;
}

/** The types as they are announced. A schema that has no JSON form is announced as one that accepts everything. */
export function describeTypes(types: ObserverTypes): { infos: ObserverTypeInfo[]; unannounced: Unannounced[] } {
  const unannounced: Unannounced[] = [];
  const infos = [...types.values()].map((definition) => {
    const { type, description = "", silence, start, checkpoint, onUpdate } = definition;
    const { schema, reason } = paramsJsonSchema(definition);
    if (reason !== undefined) unannounced.push({ type, reason });
    const info = { type, description: sendableText(description, 1_000), paramsSchema: schema };
    const saves = checkpoint && { checkpointSchema: paramsJsonSchema({ params: checkpoint }).schema };
    return {
      ...info,
      ...(start === "admitted" && { start }),
      ...(onUpdate && { onUpdate: true as const }),
      ...saves,
      ...(silence && { silence }),
    };
  });
  return { infos, unannounced };
}

/** The same of task types, with what the keeper keeps to. */
export function describeTasks(tasks: TaskTypes): { entries: TaskTypeEntry[]; unannounced: Unannounced[] } {
  const unannounced: Unannounced[] = [];
  const entries = [...tasks.values()].map((definition) => {
    const { type, description = "", retry, timeoutMs, batch } = definition;
    const { schema, reason } = paramsJsonSchema(definition);
    if (reason !== undefined) unannounced.push({ type, reason });
    const info = { type, description: sendableText(description, 1_000), paramsSchema: schema };
    return {
      ...info,
      retry,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(batch !== undefined && { batch: batch.size }),
    };
  });
  return { entries, unannounced };
}

/** Of those that were defined with fields that mean nothing. */
export function unknownFieldsIn(definitions: readonly { type: string }[]): { type: string; fields: string[] }[] {
  const found = definitions.map((one) => ({ type: one.type, fields: [...unknownFieldsOf(one)] }));
  return found.filter(({ fields }) => fields.length > 0);
}
