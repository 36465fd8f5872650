import type { CreateTask } from "@unacked/contracts";
import { poolsWithin, type RequestUser, typesWithin } from "../../domain/requests/request-users.ts";
import type { Refusal } from "../refusal.ts";
import { type LivePools, unknownTypes } from "../types/unknown-type.ts";

/** What a user wants, or its refusal. */
interface Asked {
  user: RequestUser;
  one: CreateTask | Refusal;
}

/**
 * What was checked, in the order in which it was asked for: whose type nobody knows is told, as who may create all would be (`withPools`), what there is
 * in its place; but of the types and pools alone that the user may have. Asked for only where there is one of a user who may not have all.
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
  return asked.map((each, i) => {
    const [{ user, one: wanted }, one] = [each, checked[i] as CreateTask | Refusal];
    if (!isToTell(each, one) || "kind" in wanted) return one;
    const types = typesWithin(user);
    const knownTypes = one.knownTypes?.filter((type) => types?.includes(type) ?? true);
    const told = { ...one, ...(knownTypes !== undefined && { knownTypes }) };
    const within = poolsWithin(user);
    return within === undefined ? told : unknownTypes("tasks", pools, within)(told, wanted);
  });
}
