import type { ObserverContext } from "./observer-context.ts";
import type { ObserverDefinition } from "./observer-definition.ts";
import { readText } from "./read-text.ts";

/** What became of new params: the answer of `onUpdate` as data. */
export type UpdateOutcome = {
  /** They apply from now on · the run begins again with them · it runs on as it was. */
  readonly outcome: "applied" | "restart" | "rejected";
  /** Why, where it is not what the handler wanted. */
  readonly reason?: string;
};

/**
 * Asks a type's `onUpdate`; never rejects. What throws, or answers something else, may have applied half of it: it begins again.
 * @param params parsed
 */
export async function settleUpdate<P>(
  definition: ObserverDefinition<P>,
  params: P,
  context: ObserverContext<P>,
): Promise<UpdateOutcome> {
  const { onUpdate } = definition;
  if (onUpdate === undefined) return { outcome: "restart", reason: "its type takes no change as it runs" };
  try {
    const answer: unknown = await onUpdate(params, context);
    if (answer === "applied" || answer === "restart") return { outcome: answer };
    const reason = rejectionOf(answer);
    if (reason !== undefined) return { outcome: "rejected", reason };
    return { outcome: "restart", reason: 'onUpdate answered neither "applied", "restart" nor { rejected: "why" }' };
  } catch (thrown) {
    return {
      outcome: "restart",
      reason: `onUpdate threw ${readText(() => (thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : thrown))}`,
    };
  }
}

function rejectionOf(answer: unknown): string | undefined {
  if (answer === "rejected") return "its type does not say why";
  if (typeof answer !== "object" || answer === null) return undefined;
  const { rejected } = answer as { rejected?: unknown };
  return typeof rejected === "string" ? rejected : undefined;
}
