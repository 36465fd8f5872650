import type { FieldProblem } from "@unacked/contracts";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { z } from "zod";
import { MAX_FIELDS, paramProblems } from "../field-problems.ts";
import { CheckBudget } from "./check-budget.ts";
import { inTime } from "./in-time.ts";

type Schema = Record<string, unknown>;

/**
 * Formats are left to the service's own schema: names of formats differ, and a wrong guess would refuse good params. But for
 * `uri`, which zod's z.url() writes with no pattern beside it: what WHATWG's parser refuses, zod refuses too. Verbose: an error
 * brings the part of the schema that it broke.
 */
const newAjv = () =>
  new Ajv2020({ allErrors: true, strict: false, formats: { uri: URL.canParse }, logger: false, verbose: true });
/** It keeps all that it has compiled: a new one is made to forget it. */
let ajv = newAjv();

interface Check {
  isMet: ValidateFunction;
  /** What is wrong, in the words of whatever else reads a client's input. Undefined: it cannot be told in these. */
  inWords(params: unknown): FieldProblem[] | undefined;
  /** It is long, or has something by which a short schema may take for ever. */
  mayTakeLong: boolean;
  /** How often it took too long: was ended, or took most of what the checks of a call may take together. */
  slow: number;
}

/** What all checks of one call share. */
export type ChecksOfCall = CheckBudget<Check>;
export const checksOfCall = (): ChecksOfCall => new CheckBudget();

/** A check that was slow so often is not used any more. */
const MAX_SLOW = 3;
/** It is long for any honest check of one request's params. */
const CHECK_MS = 250;
/** Measured, compiling takes 10 to 40 ms for each KiB: one of 18 KiB with 300 params takes 0.3 s in a process that has just started. */
const COMPILE_MS = 2_000;

const MAX_COMPILED = 1_000;
const compiled = new Map<string, Check | null>();
/** Ten thousand requests of one call are held against the very same schemas. */
const known = new WeakMap<Schema, Check | null>();

/**
 * Holds params against a type's JSON Schema (draft 2020-12). Pointers start at the request's body: `/params/…`. A schema is whatever a
 * service says that it is: one that goes round in circles, or takes too long, accepts everything, as the service will check.
 * @param call what others of the same call have taken; by default it is alone
 */
export function checkParams(schema: Schema, params: unknown, call = checksOfCall()): FieldProblem[] {
  const check = known.get(schema) ?? compile(schema);
  known.set(schema, check);
  if (check === null || check.slow >= MAX_SLOW) return [];
  try {
    if (!check.mayTakeLong && !hasManyValues(params)) return problemsBy(check, params);
    return call.isSpent ? [] : problemsInTime(check, params, call);
  } catch {
    return [];
  }
}

function problemsInTime(check: Check, params: unknown, call: ChecksOfCall): FieldProblem[] {
  const began = process.cpuUsage();
  const done = inTime(CHECK_MS, () => problemsBy(check, params));
  const { user, system } = process.cpuUsage(began);
  const slow = done === undefined ? check : undefined;
  const most = call.spend(check, (user + system) / 1_000);
  for (const one of new Set([slow, most])) if (one !== undefined) one.slow += 1;
  return done?.result ?? [];
}

function problemsBy(check: Check, params: unknown): FieldProblem[] {
  if (check.isMet(params)) return [];
  const errors = check.isMet.errors ?? [];
  const ofKeys = new Map(errors.flatMap(describedKey));
  const problems = check.inWords(params) ?? errors.slice(0, MAX_FIELDS).map(toProblem);
  return problems.map((problem) => ({ ...problem, message: ofKeys.get(problem.pointer ?? "") ?? problem.message }));
}

/** What a type says itself of the keys that it takes. The pattern that they break helps nobody. */
function describedKey({ instancePath, propertyName, parentSchema }: ErrorObject): [string, string][] {
  const description: unknown = parentSchema?.["description"];
  if (propertyName === undefined || typeof description !== "string") return [];
  return [[`/params${instancePath}${stepTo(propertyName)}`, `in the key: ${description}`]];
}

const stepTo = (name: string): string => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;

/**
 * These may take long: expressions; parts that name each other, so that what is written once is done 2^n times; and each item compared with
 * each.
 */
const LONG = /"(?:pattern|patternProperties|\$ref|\$dynamicRef|uniqueItems)":/;

/** Each value may be held against each part of a schema, and each part that it breaks is an error: so many parts and values are soon done. */
const SHORT_SCHEMA = 4_096;
const FEW_VALUES = 500;

/** Looks at no more than FEW_VALUES of them. */
function hasManyValues(params: unknown): boolean {
  const left = [params];
  for (let seen = 0; left.length > 0; seen += 1) {
    if (seen + left.length > FEW_VALUES) return true;
    const value = left.pop();
    if (typeof value !== "object" || value === null) continue;
    const inside = Object.values(value);
    if (inside.length > FEW_VALUES) return true;
    left.push(...inside);
  }
  return false;
}

/** A schema that does not compile, or not in time, accepts everything: the service will check. */
function compile(schema: Schema): Check | null {
  const text = JSON.stringify(schema);
  const earlier = compiled.get(text);
  if (earlier !== undefined) return earlier;
  if (compiled.size >= MAX_COMPILED) {
    compiled.clear();
    ajv = newAjv();
  }
  let check: Check | null;
  try {
    // An $id or $schema of its own could clash with another service's copy of the same type; and ajv's $async would make a check that answers by a
    // promise, and by a rejection that ends this process. Deeper in a schema that is not asynchronous, ajv refuses it.
    const { $id: _id, $schema: _schema, $async: _async, ...rest } = schema;
    const isMet = compileInTime(rest);
    check =
      isMet === undefined
        ? null
        : { isMet, inWords: wordsOf(rest), mayTakeLong: text.length > SHORT_SCHEMA || LONG.test(text), slow: 0 };
  } catch {
    check = null;
  }
  compiled.set(text, check);
  return check;
}

function compileInTime(schema: Schema): ValidateFunction | undefined {
  let hasBegun = false;
  const done = inTime(COMPILE_MS, () => {
    if (hasBegun) ajv = newAjv(); // one that was ended in the middle is of no use any more
    hasBegun = true;
    return ajv.compile(schema);
  });
  if (done === undefined) ajv = newAjv();
  return done?.result;
}

/** Whether params are wrong is for ajv to say, which knows all of JSON Schema; what is wrong, for zod, as everywhere else. */
function wordsOf(schema: Schema): Check["inWords"] {
  let inZod: z.ZodType | undefined;
  return (params) => {
    try {
      inZod ??= z.fromJSONSchema(schema, { registry: z.registry() }); // the global one keeps for ever what has an `id`
      const { error } = inZod.safeParse(params);
      return error && paramProblems(error.issues);
    } catch {
      return undefined; // a keyword that zod does not know
    }
  };
}

function toProblem(error: ErrorObject): FieldProblem {
  const name: unknown = error.params["missingProperty"] ?? error.params["additionalProperty"];
  const step = typeof name === "string" ? stepTo(name) : "";
  return { pointer: `/params${error.instancePath}${step}`, message: error.message ?? "is wrong" };
}
