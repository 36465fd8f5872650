import { isDeepStrictEqual } from "node:util";
import { refuseIterator } from "./iterator-returned.ts";
import { jsonLoss } from "./json-loss.ts";
import { issuesText, parseBy, pointerTo } from "./params.ts";
import { readText } from "./read-text.ts";
import { SdkError } from "./sdk-error.ts";
import type { TaskDefinition } from "./task-definition.ts";

const MAX_OUTPUT_BYTES = 65_536;

type Schema = NonNullable<TaskDefinition["output"]>;

/**
 * What a handler returned, as it is kept: checked by the type's schema, as JSON; nothing is `null`. Throws `invalid-output`: to try
 * again would not help, nor of a generator. So it does where JSON would say another than the schema has passed, as of a Date or a Set: whoever waits for it, or
 * has it as an input, would be given that under the type of this.
 */
export function outputJson(definition: Pick<TaskDefinition, "output" | "type">, value: unknown): string {
  refuseIterator(value);
  const checked = definition.output === undefined ? value : checkedOutput(definition.output, value);
  const json = toJson(checked ?? null);
  const bytes = Buffer.byteLength(json);
  if (bytes > MAX_OUTPUT_BYTES)
    throw new SdkError("invalid-output", `a result may have ${MAX_OUTPUT_BYTES} bytes as JSON, and this one has ${bytes}`);
  if (definition.output !== undefined && checked !== undefined) refuseLoss(definition.output, checked, json);
  return json;
}

/** What the schema knows nothing of (`z.unknown()`) may be whatever JSON makes of it. */
function refuseLoss(output: Schema, checked: unknown, json: string): void {
  const loss = jsonLoss(checked);
  // One that transforms may refuse what it has made: it cannot be asked.
  if (loss === undefined || !parseBy(output, checked, "field").ok) return;
  const brought: unknown = JSON.parse(json);
  const again = parseBy(output, brought, "field");
  if (again.ok && isDeepStrictEqual(again.params, brought)) return;
  const place = pointerTo(loss.path) || "output";
  throw new SdkError(
    "invalid-output",
    `what the handler returned would be another as JSON, as which it is kept: ${place}: JSON has no ${loss.kind}`,
  );
}

function checkedOutput(output: Schema, value: unknown): unknown {
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
    throw new SdkError("invalid-output", `what the handler returned cannot be written as JSON: ${readText(() => cause)}`, {
      cause,
    });
  }
  throw new SdkError("invalid-output", `what the handler returned cannot be written as JSON: it is of type ${typeof value}`);
}
