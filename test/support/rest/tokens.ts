import { ROLES, type Role } from "@unacked/contracts";
import { newToken } from "../../../cli/src/config/new-token.ts";
import { KnownCallers } from "../../../services/observer-manager/src/adapters/access/known-callers.ts";
import type { Log } from "../../../services/observer-manager/src/operations/log.ts";

/** One token for each role, made by the command line's own function; `list` is what a manager is given. */
export interface RoleTokens {
  of: Readonly<Record<Role, string>>;
  list: string;
}

/** Their names are `a-taker`, `a-viewer`, `an-operator` and `an-admin`. */
export function roleTokens(): RoleTokens {
  const made = ROLES.map((role) => ({ role, ...newToken(`${/^[ao]/.test(role) ? "an" : "a"}-${role}`, role) }));
  const of = Object.fromEntries(made.map(({ role, token }) => [role, token])) as Record<Role, string>;
  return { of, list: made.map(({ line }) => line).join("\n") };
}

export const bearer = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` });

export const callersOf = (tokens: string, log: Log): KnownCallers => new KnownCallers({ tokens }, log);
