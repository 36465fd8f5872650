import { type CreateTask, PoolName, Role, TimerName, TypeName, toPointer } from "@unacked/contracts";
import { z } from "zod";
import { named } from "../named.ts";

const ALL = "*";
const DEFAULT_PER_MINUTE = 6_000;

/** A user's replies have keys that begin with its name and a dot: with dots in names, one user's key could begin as another's. */
const UserName = z
  .string()
  .regex(/^[\x21-\x7e]{1,64}$/, "a user's name has 1 to 64 characters of ASCII, without blanks")
  .refine((name) => !/[.*#]/.test(name), "a user's name has no dot, * or #: it is the first word of routing keys");

/** What a user of the broker may ask for: tasks (types and pools), timers, or both. */
const RequestUser = z
  .strictObject({
    role: Role.exclude(["taker"]),
    types: z
      .array(TypeName.or(z.literal(ALL)))
      .min(1)
      .optional(),
    pools: z
      .array(PoolName.or(z.literal(ALL)))
      .min(1)
      .optional(),
    /** How the names of its timers begin. */
    timers: z
      .array(TimerName.or(z.literal(ALL)))
      .min(1)
      .optional(),
    /** Requests; ten seconds' worth of them may come at once. */
    perMinute: z.int().min(1).max(10_000_000).default(DEFAULT_PER_MINUTE),
  })
  .superRefine(({ types, pools, timers }, context) => {
    const needed = (field: string) =>
      context.addIssue({ code: "custom", path: [field], message: "is needed, unless there are only timers" });
    if (types === undefined && (pools !== undefined || timers === undefined)) needed("types");
    if (pools === undefined && (types !== undefined || timers === undefined)) needed("pools");
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
  const { types = [], pools = [] } = user;
  if (!types.includes(ALL) && !types.includes(type))
    return `${name} may not create tasks of the type "${type}": REQUEST_USERS gives it ${named(types) || "none"}`;
  if (!pools.includes(ALL) && !pools.includes(pool))
    return `${name} may not create tasks in the pool "${pool}": REQUEST_USERS gives it ${named(pools)}`;
  return undefined;
}

/** The pools whose tasks this user may see and change, by their keys and ids; undefined: all of them. */
export const poolsWithin = ({ pools = [] }: RequestUser): readonly string[] | undefined =>
  pools.includes(ALL) ? undefined : pools;

/** The types of tasks that this user may create; undefined: all of them. */
export const typesWithin = ({ types = [] }: RequestUser): readonly string[] | undefined =>
  types.includes(ALL) ? undefined : types;

/** How the names of the timers begin that this user may set and cancel; undefined: all of them. */
export const timersWithin = ({ timers = [] }: RequestUser): readonly string[] | undefined =>
  timers.includes(ALL) ? undefined : timers;

/** Why this user may not set a timer of this name, or any; undefined: it may. */
export function whyNoTimer(name: string, user: RequestUser, timer?: string): string | undefined {
  const within = timersWithin(user);
  if (within === undefined) return undefined;
  if (within.length === 0) return `${name} may set no timers: REQUEST_USERS gives it none (timers)`;
  if (timer === undefined || within.some((prefix) => timer.startsWith(prefix))) return undefined;
  return `${name} may not set timers of the name "${timer}": REQUEST_USERS gives it names that begin with ${named(within)}`;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
