import { createHash } from "node:crypto";
import { type CreateObserver, newObserverId } from "@unacked/contracts";
import type { NewObserver } from "./books-store.ts";

/** A request as it will stand in the books; an id is made where the client chose none. */
export function newObserver(request: CreateObserver): NewObserver {
  const { name, type, params, labels, pool, retry } = request;
  const content = { name, type, params, labels, pool, retry };
  return { ...content, id: request.id ?? newObserverId(), requestHash: requestHashOf(content) };
}

export function requestHashOf(
  content: Pick<CreateObserver, "name" | "type" | "params" | "labels" | "pool" | "retry">,
): string {
  return createHash("sha256").update(canonicalJson(content)).digest("hex");
}

/** JSON with sorted keys: the order in which a client writes its fields is not a difference. */
function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  const sorted = entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([key, part]) => `${JSON.stringify(key)}:${canonicalJson(part)}`).join(",")}}`;
}
