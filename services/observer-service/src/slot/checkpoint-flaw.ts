import type { ErrorText } from "@unacked/contracts";
import type { ObserverDefinition } from "@unacked/sdk";
import { readCheckpoint } from "@unacked/sdk/host";
import { thrownText } from "../error-text.ts";

/** Why a run cannot start with its checkpoint: its type's schema may have changed since that was saved. */
export function checkpointFlaw({ checkpoint: schema }: ObserverDefinition, json: string | undefined): ErrorText | undefined {
  if (schema === undefined) return undefined;
  try {
    readCheckpoint(schema, json);
    return undefined;
  } catch (error) {
    return { name: "InvalidCheckpoint", message: thrownText(error).message };
  }
}
