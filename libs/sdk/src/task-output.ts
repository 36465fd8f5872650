import { issuesText, parseBy } from "./params.ts";
import { SdkError } from "./sdk-error.ts";
import type { TaskDefinition } from "./task-definition.ts";

const MAX_OUTPUT_BYTES = 65_536;

/**
 * What a handler returned, as it is kept: checked by the type's schema, as JSON; nothing is `null`. Throws `invalid-output`: to try
 * again would not help.
 */
export function outputJson(definition: Pick<TaskDefinition, "output" | "type">, value: unknown): string {
  const checked = definition.output === undefined ? value : checkedOutput(definition.output, value);
  const json = toJson(checked ?? null);
  const bytes = Buffer.byteLength(json);
  if (bytes > MAX_OUTPUT_BYTES)
    throw new SdkError("invalid-output", `a result may have ${MAX_OUTPUT_BYTES} bytes as JSON, and this one has ${bytes}`);
  return json;
}

function checkedOutput(output: NonNullable<TaskDefinition["output"]>, value: unknown): unknown {
  const parsed = parseBy(output, value, "field");
  if (parsed.ok) return parsed.params;
  const text = issuesText(parsed.issues, "output");
  throw new SdkError("invalid-output", `what the handler returned does not pass: ${text}`);
}

function toJson(value: unknown): string {
  try {
    const json = JSON.stringify(value) as string | undefined;
    if (json !== undefined) return json;
  } catch (cause) {
    throw new SdkError("invalid-output", `what the handler returned cannot be written as JSON: ${String(cause)}`, { cause });
  }
  throw new SdkError("invalid-output", `what the handler returned cannot be written as JSON: it is of type ${typeof value}`);
}
