import { ROLES, type Role } from "@unacked/contracts";

/** The words of an identity provider with the roles that they stand for: `viewer=team-a,admin=ops`. */
export type RoleWords = Readonly<Record<string, Role>>;

/** Finds a claim by its name or, if there is none of that name, by a path: `realm_access.roles`. */
export function claimAt(claims: object, path: string): unknown {
  if (Object.hasOwn(claims, path)) return ownOf(claims, path);
  return path.split(".").reduce<unknown>(ownOf, claims);
}

const ownOf = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;

/**
 * The highest role that the claim gives. A claim is a list of words, or one text of words separated by spaces (like `scope`).
 */
export function roleOf(claim: unknown, words: RoleWords): Role | undefined {
  const given = typeof claim === "string" ? claim.split(" ") : Array.isArray(claim) ? claim : [];
  const roles = given.map((word) => (typeof word === "string" && Object.hasOwn(words, word) ? words[word] : undefined));
  return ROLES.findLast((role) => roles.includes(role));
}
