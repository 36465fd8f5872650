import { ROLES, type Role } from "@unacked/contracts";

/** Which of an identity provider's words stands for which role: `viewer=team-a,admin=ops`. */
export type RoleWords = Readonly<Record<string, Role>>;

/** A claim by its name, or, where it has none of that name, by a path: `realm_access.roles`. */
export function claimAt(claims: object, path: string): unknown {
  if (Object.hasOwn(claims, path)) return ownOf(claims, path);
  return path.split(".").reduce<unknown>(ownOf, claims);
}

const ownOf = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;

/** The highest role that the claim gives: a list of words, or words in one text separated by spaces (as `scope` has them). */
export function roleOf(claim: unknown, words: RoleWords): Role | undefined {
  const given = typeof claim === "string" ? claim.split(" ") : Array.isArray(claim) ? claim : [];
  const roles = given.map((word) => (typeof word === "string" && Object.hasOwn(words, word) ? words[word] : undefined));
  return ROLES.findLast((role) => roles.includes(role));
}
