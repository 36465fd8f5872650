import { named } from "../named.ts";

/** Which tasks the bearer of a token may take, by their types and pools. Of what is empty each may be had. */
export interface TaskShare {
  types: readonly string[];
  pools: readonly string[];
}

export const WHOLE: TaskShare = { types: [], pools: [] };

/** Why one of this name may not take tasks of these types in this pool; undefined: it may. */
export function whyNotShared(
  name: string,
  { types, pools }: TaskShare,
  asked: { types: readonly string[]; pool: string },
): string | undefined {
  const others = types.length === 0 ? [] : asked.types.filter((type) => !types.includes(type));
  if (others.length > 0) return `${name} may take tasks of the types ${named(types)} only, and not of ${named(others)}`;
  if (pools.length > 0 && !pools.includes(asked.pool))
    return `${name} may take tasks in the pools ${named(pools)} only, and not in ${asked.pool}`;
  return undefined;
}
