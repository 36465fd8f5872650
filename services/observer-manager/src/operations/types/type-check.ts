import type { CreateObserver, ObserverTypeInfo } from "@unacked/contracts";
import { named } from "../../domain/named.ts";
import { KnownTypes } from "../../domain/types/known-types.ts";
import { type ChecksOfCall, checksOfCall } from "../../domain/types/params-check.ts";
import { allInOrder } from "../all-in-order.ts";
import { thatAllManagers } from "../features/not-known-by-all.ts";
import { eachInSlices } from "../in-slices.ts";
import type { Refusal } from "../refusal.ts";
import { type LivePool, type LivePools, unknownTypes } from "./unknown-type.ts";

export interface LiveTypes {
  services: number;
  types: ObserverTypeInfo[];
  /** The names of those that do not know admission. */
  withoutAdmission: string[];
}

export interface TypeDirectory extends LivePools {
  /** The types that living services of a pool announced; `services` is how many of them live. */
  liveTypes(pool: string): Promise<LiveTypes>;
}

/**
 * Checks pool, type and params against what living services announced, so that most mistakes are answered at POST instead of
 * ending as Failed. With no service alive in the pool nothing can be checked: `whenFull: "queue"` accepts, and so does what starts later.
 */
export class TypeCheck {
  readonly #directory: TypeDirectory;
  readonly #mayAdmit: () => boolean;

  /** @param mayAdmit whether all managers know admission */
  constructor(directory: TypeDirectory, mayAdmit: () => boolean) {
    this.#directory = directory;
    this.#mayAdmit = mayAdmit;
  }

  /**
   * @param directory as a transaction sees it; of all pools at once
   * @returns for each request why it cannot be accepted, or null
   */
  async check(requests: CreateObserver[], directory = this.#directory): Promise<(Refusal | null)[]> {
    const pools = [...new Set(requests.map(({ pool }) => pool))];
    const read = await allInOrder(pools.map((pool) => directory.liveTypes(pool)));
    const directories = new Map(pools.map((pool, i) => [pool, toPool(read[i])]));
    const checks = checksOfCall();
    const refusals = await eachInSlices(requests, (request) => {
      const live = directories.get(request.pool);
      if (live) return checkAgainst(live.known, request, checks) ?? this.#checkAdmission(live, request);
      // What starts later may do so in a pool that is served by then; what was to start before now finds no worker.
      return request.whenFull === "queue" || request.startAt !== undefined ? null : POOL_NOT_SERVED;
    });
    return withPools(requests, refusals, directory);
  }

  /** A service that does not know admission would start its handler at once. */
  #checkAdmission({ known, withoutAdmission }: Pool, { type, pool }: CreateObserver): Refusal | null {
    if (!known.versionsOf(type).some(({ start }) => start === "admitted")) return null;
    if (withoutAdmission.length > 0) {
      const names = withoutAdmission.slice(0, MAX_NAMED).join(", ");
      return admissionNotKnown(`${withoutAdmission.length} of the pool "${pool}" do not know it yet: ${names}`);
    }
    if (this.#mayAdmit()) return null;
    return admissionNotKnown(`it is not known yet ${thatAllManagers("know it")}`);
  }
}

interface Pool {
  known: KnownTypes<ObserverTypeInfo>;
  withoutAdmission: string[];
}

/** Undefined: no service of it lives. */
const toPool = (live: LiveTypes | undefined): Pool | undefined =>
  live && live.services > 0 ? { known: new KnownTypes(live.types), withoutAdmission: live.withoutAdmission } : undefined;

/** Somebody who meant another pool is told which there are; asked for only where one was refused. */
async function withPools(
  requests: CreateObserver[],
  refusals: (Refusal | null)[],
  directory: TypeDirectory,
): Promise<(Refusal | null)[]> {
  if (!refusals.some((refusal) => refusal !== null && ABOUT_POOLS.has(refusal.code))) return refusals;
  const pools = await directory.livePools();
  const unknownType = unknownTypes("observers", pools);
  return refusals.map((refusal, i) => {
    const { pool, type } = requests[i] as CreateObserver;
    if (refusal?.code === "pool-not-served") return notServed(refusal, pool, pools);
    return refusal?.code === "unknown-type" ? unknownType(refusal, { pool, type }) : refusal;
  });
}

const MAX_NAMED = 20;

const admissionNotKnown = (why: string): Refusal => ({
  kind: "problem",
  code: "admission-not-known",
  detail: `Observers of this type ask before they start, and ${why}`,
});

const POOL_NOT_SERVED: Refusal = { kind: "problem", code: "pool-not-served" };
const ABOUT_POOLS: ReadonlySet<Refusal["code"]> = new Set(["pool-not-served", "unknown-type"]);

function notServed(refusal: Refusal, pool: string, pools: LivePool[]): Refusal {
  const knownPools = pools.map((one) => one.pool);
  const others = knownPools.length > 0 ? `; pools that are served: ${named(knownPools)}` : ", nor in any other";
  return { ...refusal, detail: `No living service works in the pool "${pool}"${others}`, knownPools };
}

function checkAgainst(
  known: KnownTypes<ObserverTypeInfo>,
  { type, params }: CreateObserver,
  checks: ChecksOfCall,
): Refusal | null {
  const errors = known.problemsOf(type, params, checks);
  if (errors === undefined) return { kind: "problem", code: "unknown-type", knownTypes: known.names };
  return errors.length === 0 ? null : { kind: "problem", code: "invalid-body", errors };
}
