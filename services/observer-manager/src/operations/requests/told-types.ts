import type { CreateTask } from "@unacked/contracts";
import { poolsWithin, type RequestUser, typesWithin } from "../../domain/requests/request-users.ts";
import type { Refusal } from "../refusal.ts";
import { type LivePool, type LivePools, unknownTypes } from "../types/unknown-type.ts";

/** What a user wants, or its refusal. */
interface Asked {
  user: RequestUser;
  one: CreateTask | Refusal;
}

/**
 * What was checked, in the order in which it was asked for. Where nobody knows a type, the refusal tells what there is in its place, as for
 * somebody who may create all (`withPools`), but only types and pools that the user may have. These are looked for only where there is one
 * of a user who may not have all.
 */
export async function toldWithin(
  asked: readonly Asked[],
  checked: readonly (CreateTask | Refusal)[],
  store: LivePools,
): Promise<(CreateTask | Refusal)[]> {
  const isToTell = ({ user }: Asked, one: CreateTask | Refusal): one is Refusal =>
    "kind" in one && one.code === "unknown-type" && (poolsWithin(user) ?? typesWithin(user)) !== undefined;
  if (!asked.some((each, i) => isToTell(each, checked[i] as CreateTask | Refusal))) return [...checked];
  const pools = await store.livePools();
  const toldTo = new Map<RequestUser, ReturnType<typeof wordsFor>>();
  return asked.map((each, i) => {
    const [{ user, one: wanted }, one] = [each, checked[i] as CreateTask | Refusal];
    if (!isToTell(each, one) || "kind" in wanted) return one;
    const words = toldTo.get(user) ?? wordsFor(user, pools);
    toldTo.set(user, words);
    return words(one, wanted);
  });
}

/** Looks for both once, even for ten thousand tasks of one mistyped type. */
function wordsFor(user: RequestUser, pools: LivePool[]): (refusal: Refusal, wanted: CreateTask) => Refusal {
  const [types, within] = [typesWithin(user), poolsWithin(user)];
  const known = new Map<readonly string[], string[]>();
  const inPools = within === undefined ? undefined : unknownTypes("tasks", pools, within);
  return (refusal, wanted) => {
    const { knownTypes } = refusal;
    if (knownTypes !== undefined && types !== undefined && !known.has(knownTypes))
      known.set(
        knownTypes,
        knownTypes.filter((type) => types.includes(type)),
      );
    const told = { ...refusal, ...(knownTypes !== undefined && { knownTypes: known.get(knownTypes) ?? knownTypes }) };
    return inPools === undefined ? told : inPools(told, wanted);
  };
}
