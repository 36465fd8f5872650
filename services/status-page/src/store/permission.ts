import type { Role, SessionView } from "@unacked/contracts";

/** Each may do all that those below it may. Takers cannot sign in here, and none of their calls is made here. */
const RANKS: Record<Role, number> = { taker: -1, viewer: 0, operator: 1, admin: 2 };

/**
 * Why somebody may not make a call (named as in the API's document), for them to read; null: they may. The manager decides
 * for itself when the call is made: this is so that nobody has to try.
 */
export function whyNot({ role, needs }: SessionView, call: string): string | null {
  const needed = Object.hasOwn(needs, call) ? needs[call] : undefined;
  if (needed === undefined || RANKS[role] >= RANKS[needed]) return null;
  return `This needs the role ${needed}; yours is ${role}.`;
}
