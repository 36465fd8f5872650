import { type CreateTask, PoolName, Role, TypeName, toPointer } from "@unacked/contracts";
import { z } from "zod";

const ALL = "*";
const DEFAULT_PER_MINUTE = 6_000;

/** A user's replies have keys that begin with its name and a dot: with dots in names, one user's key could begin as another's. */
const UserName = z
  .string()
  .regex(/^[\x21-\x7e]{1,64}$/, "a user's name has 1 to 64 characters of ASCII, without blanks")
  .refine((name) => !/[.*#]/.test(name), "a user's name has no dot, * or #: it is the first word of routing keys");

/** What a user of the broker may ask for. */
const RequestUser = z.strictObject({
  role: Role,
  types: z.array(TypeName.or(z.literal(ALL))).min(1),
  pools: z.array(PoolName.or(z.literal(ALL))).min(1),
  /** Requests; ten seconds' worth of them may come at once. */
  perMinute: z.int().min(1).max(10_000_000).default(DEFAULT_PER_MINUTE),
});
export type RequestUser = z.output<typeof RequestUser>;

const RequestUsers = z.record(UserName, RequestUser);
export type RequestUsers = Readonly<Record<string, RequestUser>>;

/** Reads `{ "billing": { "role": "operator", "types": ["resize"], "pools": ["default"] } }`, as JSON or as it is. */
export function readRequestUsers(given: unknown): { users: RequestUsers } | { problems: string[] } {
  const value = typeof given === "string" ? parsed(given) : given;
  if (value === undefined) return { problems: ["is not JSON"] };
  const users = RequestUsers.safeParse(value);
  if (users.success) return Object.keys(users.data).length > 0 ? { users: users.data } : { problems: ["names no user"] };
  return { problems: users.error.issues.map((issue) => `${toPointer(issue.path) || "it"}: ${messageOf(issue)}`) };
}

function messageOf(issue: z.core.$ZodIssue): string {
  return issue.code === "invalid_key" ? issue.issues.map(({ message }) => message).join("; ") : issue.message;
}

/** Why this user may not create this task; undefined: it may. */
export function whyNotAllowed(name: string, user: RequestUser, { type, pool }: CreateTask): string | undefined {
  if (!user.types.includes(ALL) && !user.types.includes(type))
    return `${name} may not create tasks of the type "${type}": REQUEST_USERS gives it ${user.types.join(", ")}`;
  if (!user.pools.includes(ALL) && !user.pools.includes(pool))
    return `${name} may not create tasks in the pool "${pool}": REQUEST_USERS gives it ${user.pools.join(", ")}`;
  return undefined;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
