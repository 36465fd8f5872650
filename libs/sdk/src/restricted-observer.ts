import { isObserverDefinition, type ObserverDefinition } from "./observer-definition.ts";
import type { Permissions } from "./permissions.ts";
import { SdkError } from "./sdk-error.ts";

const brand = Symbol.for("unacked.restricted-observer");
const shapeVersion = 1;

/** Instead of a type: this service does not have it. */
export type NotOffered = {
  /** Why: it tells the operator what would have to be permitted. */
  readonly notOffered: string;
};

/** An observer type that is made for what a service permits: what `restrictObserver` gives and a service loads. */
export type RestrictedObserver<D extends ObserverDefinition | NotOffered = ObserverDefinition | NotOffered> = {
  /** The type for what is permitted, or why there is none. */
  under(permissions: Permissions): D;
};

/**
 * For a type that lets the creator of an observer choose what it reaches: `make` builds the definition for what the
 * service permits, so that its params already say what is allowed, or answers `{ notOffered: why }`. The file's default
 * export, in place of `defineObserver`'s. Throws `invalid-definition` where `make` is no function.
 *
 * @example
 * ```ts
 * import { defineObserver, restrictObserver, sleep } from "@unacked/sdk";
 * import { z } from "zod";
 *
 * export default restrictObserver(({ privateAddresses }) => {
 *   if (!privateAddresses) return { notOffered: "it looks at hosts of the own network" };
 *   return defineObserver({
 *     type: "neighbour",
 *     params: z.strictObject({ url: z.url() }),
 *     async run({ params, signal, emit }) {
 *       while (await sleep(5_000, signal)) await emit({ status: (await fetch(params.url, { signal })).status });
 *     },
 *   });
 * });
 * ```
 */
export function restrictObserver<D extends ObserverDefinition | NotOffered>(
  make: (permissions: Permissions) => D,
): RestrictedObserver<D> {
  if (typeof make !== "function") {
    throw new SdkError("invalid-definition", "restrictObserver takes a function from permissions to a definition");
  }
  return Object.freeze(Object.defineProperty({ under: make }, brand, { value: shapeVersion }));
}

/**
 * What a service that permits this has of a file's default export: a definition, why there is none, or `undefined` when
 * the value is no observer type (of this or another copy of the package). Throws `invalid-definition` where a restricted type makes
 * neither.
 */
export function offeredUnder(value: unknown, permissions: Permissions): ObserverDefinition | NotOffered | undefined {
  if (!isRestrictedObserver(value)) return isObserverDefinition(value) ? value : undefined;
  const made: unknown = value.under(permissions);
  if (isObserverDefinition(made) || isNotOffered(made)) return made;
  throw new SdkError("invalid-definition", "what restrictObserver was given made neither a definition nor { notOffered }");
}

/** Whether a value says that there is no such type, as {@link NotOffered} does. */
export function isNotOffered(value: unknown): value is NotOffered {
  return typeof value === "object" && value !== null && typeof (value as Partial<NotOffered>).notOffered === "string";
}

function isRestrictedObserver(value: unknown): value is RestrictedObserver {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[brand] === shapeVersion;
}
