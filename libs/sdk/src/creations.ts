import { randomUUID } from "node:crypto";
import type { z } from "zod";
import { typePattern } from "./observer-definition.ts";
import { paramsIssuesText, parseSent } from "./params.ts";
import { readText } from "./read-text.ts";
import { SdkError } from "./sdk-error.ts";

const MAX_CREATED = 100;
const MAX_PARAMS_BYTES = 262_144;
/** Of all that one attempt creates: it travels with its end. */
const MAX_BYTES = 1_048_576;
const MAX_KEY = 255;
const ON_CONFLICT = ["reject", "return", "replace", "queue-latest"];
const POOL = /^[A-Za-z0-9_-]{1,64}$/;
/** As the manager takes it: of RFC 9562, with its version and variant. */
const UUID =
  /^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}|0{8}-0{4}-0{4}-0{4}-0{12}|f{8}-f{4}-f{4}-f{4}-f{12})$/;

/** Of what `defineTask` gave: all that is needed of it here. */
type TaskType = { readonly type: string; readonly params: z.ZodType };

/** How a task is to be created; as in a request of REST. A wrong one throws `invalid-creation`. */
export type CreationOptions = {
  /** 1 to 255 characters. Of its type no other task with this key is created before it is over. Default: none. */
  readonly key?: string;
  /**
   * When the key is taken; it needs one. `reject`: nothing is created, and the creating task says so · `return`: the other stays as it is · `replace`: it
   * becomes as this says, if it waits, else as `queue-latest` · `queue-latest`: it runs once more with these params when its run ends.
   * Default `reject`.
   */
  readonly onConflict?: "reject" | "return" | "replace" | "queue-latest";
  /** −1,000 to 1,000, the higher goes first. Default 0. */
  readonly priority?: number;
  /** It does not start before that. Default: at once. */
  readonly startAt?: Date;
  /** 1 to 1,000. Default: as its type says. */
  readonly maxAttempts?: number;
  /** Default: that of the creating task, whose manager may allow others (`TASK_CREATION_POOLS`). */
  readonly pool?: string;
  /** UUID of your own (RFC 9562). Default: a random one. */
  readonly id?: string;
};

/** A task that a handler wants to be created, as the harness shows it. */
export type TaskCreation = Omit<CreationOptions, "id" | "startAt"> & {
  /** The name of its type. */
  readonly type: string;
  /** As they were given, as JSON can say them. */
  readonly params: unknown;
  /** UUID. */
  readonly id: string;
  /** ISO 8601, in UTC. */
  readonly startAt?: string;
};

/** Creates tasks, when the one that does so completes. */
export type TaskCreator = {
  /**
   * Becomes real in the transaction in which this task completes; if it fails, is cancelled or put off, it never was. A hundred an
   * attempt at most, of 1 MiB together, none once the handler has settled. Throws `invalid-creation` or `invalid-params`: then it is not
   * created, and others are.
   * @param type what `defineTask` gave, or its name; checked here where this service has it, else by the manager
   * @param params default `{}`, where its type takes that
   * @returns its id
   */
  create(type: string, params?: unknown, options?: CreationOptions): string;
  // The last: of that the compiler says what is wrong.
  create<I>(
    type: { readonly type: string; readonly params: z.ZodType<unknown, I> },
    ...given: Record<string, never> extends I
      ? [params?: I, options?: CreationOptions]
      : [params: I, options?: CreationOptions]
  ): string;
};

/** Of one attempt: what its handler gets as `ctx.tasks`, and what it has created so far. */
export class Creations implements TaskCreator {
  /** Each as JSON, in the order in which they were asked for. */
  readonly json: string[] = [];
  readonly #typeOf: (type: string) => TaskType | undefined;
  #bytes = 0;
  #isClosed = false;

  /** @param typeOf a type that is there */
  constructor(typeOf: (type: string) => TaskType | undefined = () => undefined) {
    this.#typeOf = typeOf;
  }

  readonly create: TaskCreator["create"] = (
    type: string | TaskType,
    params: unknown = {},
    options: CreationOptions = {},
  ) => {
    if (this.#isClosed) throw wrong("the attempt has ended: await what creates");
    const definition = typeof type === "string" ? this.#typeOf(type) : type;
    const name = typeof type === "string" ? type : definition?.type;
    if (typeof name !== "string" || !typePattern.test(name))
      throw wrong(`it takes a task type, as defineTask gave it or its name, and was given ${JSON.stringify(name)}`);
    const given = paramsOf(params);
    const checked = definition === undefined ? undefined : parseSent(definition, given);
    if (checked?.ok === false)
      throw new SdkError("invalid-params", `tasks.create: ${name}: ${paramsIssuesText(checked.issues)}`);
    const id = options.id ?? randomUUID();
    const json = JSON.stringify({ type: name, params: given, ...optionsOf(options), id });
    const bytes = Buffer.byteLength(json);
    if (this.json.length === MAX_CREATED)
      throw wrong(`an attempt may create ${MAX_CREATED} tasks, and this would be one more`);
    if (this.#bytes + bytes > MAX_BYTES)
      throw wrong(
        `what an attempt creates may have ${MAX_BYTES} bytes as JSON together, and with this it has ${this.#bytes + bytes}`,
      );
    this.#bytes += bytes;
    this.json.push(json);
    return id.toLowerCase();
  };

  /** The handler has settled: what it creates from now on would never be there, and it would be told an id all the same. */
  close(): void {
    this.#isClosed = true;
  }
}

function paramsOf(params: unknown): unknown {
  const json = jsonOf(params);
  const bytes = Buffer.byteLength(json);
  if (bytes > MAX_PARAMS_BYTES) throw wrong(`params may have ${MAX_PARAMS_BYTES} bytes as JSON, and these have ${bytes}`);
  if (/(?<!\\)(\\\\)*\\u(0000|d[89a-f][0-9a-f]{2})/i.test(json))
    throw wrong("params have a NUL character, or half of a surrogate pair");
  return params;
}

function jsonOf(params: unknown): string {
  try {
    const json = JSON.stringify(params) as string | undefined;
    if (json !== undefined) return json;
  } catch (cause) {
    throw new SdkError("invalid-creation", `tasks.create: the params cannot be written as JSON: ${readText(() => cause)}`, {
      cause,
    });
  }
  throw wrong(`the params cannot be written as JSON: they are of type ${typeof params}`);
}

/** Each is looked at, as a handler in JavaScript may say anything. */
function optionsOf(options: CreationOptions): object {
  const { key, onConflict, priority, startAt, maxAttempts, pool, id, ...unknown } = options;
  const [strange] = Object.keys(unknown);
  if (strange !== undefined) throw wrong(`there is no option ${strange}`);
  const text = (value: unknown, most: number) => typeof value === "string" && value.length >= 1 && value.length <= most;
  const whole = (value: unknown, least: number, most: number) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
  check("key", key, text(key, MAX_KEY) && !/\0|\p{Surrogate}/u.test(String(key)), `a text of 1 to ${MAX_KEY} characters`);
  check("onConflict", onConflict, ON_CONFLICT.includes(onConflict as string), `one of ${ON_CONFLICT.join(", ")}`);
  if (key === undefined && onConflict !== undefined && onConflict !== "reject")
    throw wrong("onConflict needs a key: without one nothing is in its way");
  check("priority", priority, whole(priority, -1_000, 1_000), "a whole number from -1000 to 1000");
  check("maxAttempts", maxAttempts, whole(maxAttempts, 1, 1_000), "a whole number from 1 to 1000");
  check("pool", pool, typeof pool === "string" && POOL.test(pool), "the name of a pool");
  check("id", id, typeof id === "string" && UUID.test(id), "a UUID of RFC 9562, such as crypto.randomUUID() makes");
  check("startAt", startAt, startAt instanceof Date && Number.isFinite(startAt.getTime()), "a valid Date");
  const given = { key, onConflict, priority, maxAttempts, pool, startAt: startAt?.toISOString() };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function check(name: string, value: unknown, isRight: boolean, what: string): void {
  if (value !== undefined && !isRight) throw wrong(`${name} is not ${what}`);
}

const wrong = (what: string) => new SdkError("invalid-creation", `tasks.create: ${what}`);
