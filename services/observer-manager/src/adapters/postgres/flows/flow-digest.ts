import { createHash } from "node:crypto";
import type { FlowTask } from "@unacked/contracts";
import type { NewFlow } from "../../../operations/flows/flow-store.ts";
import { eachInSlices } from "../../../operations/in-slices.ts";

/** The digest of all that was asked: asked again, its keys in any order, it is the same flow. */
export const digestOf = (flow: NewFlow): Promise<string> => hashed(flow, (task) => JSON.stringify(inOrder(task)));

/** Also accepts digests from before keys were put in order. */
export const isDigestOf = async (digest: string, flow: NewFlow): Promise<boolean> =>
  digest === (await digestOf(flow)) || digest === (await hashed(flow, (task) => JSON.stringify(task)));

/** Hashes the text of `[name, tasks]`, task by task and in slices: for 32 MiB at once nobody else would have had a turn for two seconds. */
async function hashed({ name, tasks }: NewFlow, textOf: (task: FlowTask) => string): Promise<string> {
  const hash = createHash("sha256").update(`[${JSON.stringify(name ?? null)},[`);
  let separator = "";
  await eachInSlices(tasks, (task) => {
    hash.update(separator).update(textOf(task));
    separator = ",";
  });
  return hash.update("]]").digest("hex");
}

/** Sorts the keys of all objects in it, too. It may recurse: a body has a bounded depth. */
function inOrder(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  const given = value as Record<string, unknown>;
  return Object.fromEntries(
    Object.keys(given)
      .toSorted()
      .map((key) => [key, inOrder(given[key])]),
  );
}
