import { readFileSync } from "node:fs";
import { join } from "node:path";
import { contractDecoder } from "@unacked/client";
import { CALLS, type Call, type CallName } from "@unacked/contracts";
import { describe, expect, it, test } from "vitest";
import { z } from "zod";
import { whatItMeans } from "../../../libs/client/src/older-answers.ts";
import { RELEASES } from "../../support/messages/releases.ts";
import { ROOT } from "../../support/processes/processes.ts";

type Schema = z.core.$ZodTypes;

const kept = (file: string): unknown => JSON.parse(readFileSync(join(ROOT, "test/fixtures/answers", file), "utf8"));

interface FirstForm {
  isReleased: boolean;
  line: string;
  paths: string[];
}

/** By its name in the API's document: what an answer, or a part of it, said of itself in the version that brought it. */
const FIRST_FORMS = new Map(
  Object.entries(kept("first-forms.json") as Record<string, Record<string, string>>).flatMap(([version, forms]) => {
    const isReleased = RELEASES.some((release) => release.version === version);
    return Object.entries(forms).map(([name, line]): [string, FirstForm] => [
      name,
      { isReleased, line, paths: line.split(" ") },
    ]);
  }),
);
/** By the name of the call and the status: the examples of 0.1.0's document. */
const FIRST_ANSWERS = kept("first-answers.json") as Record<string, Record<string, unknown[]>>;

describe("an answer in the form in which it was released first", () => {
  const answers = Object.entries(FIRST_ANSWERS).flatMap(([call, byStatus]) =>
    Object.entries(byStatus).flatMap(([status, values]) => values.map((value) => ({ call, status, value }))),
  );

  it.each(answers)("is read, and is as whole as one of today: $call $status", ({ call, status, value }) => {
    const answer = read(call as CallName, Number(status), value);
    const schemas = Object.values((CALLS[call as CallName] as Call).answers).filter((schema) => schema !== null);
    expect(schemas.map((schema) => schema.safeParse(answer).error?.issues)).toContain(undefined);
  });

  it.each(namedSchemas())(
    "stands in test/fixtures/answers/first-forms.json, until its release as it is now: $name",
    ({ name, schema }) => {
      const line = [...fieldsOf(schema).keys()].join(" ");
      const first = FIRST_FORMS.get(name);
      expect(first, `what is new is written down, with the version that brings it: "${name}": "${line}"`).toBeDefined();
      if (first?.isReleased === false) expect(first.line).toBe(line);
    },
  );

  it.each(namedSchemas())("says what its absence means wherever one of today says more: $name", ({ name, schema }) => {
    const first = FIRST_FORMS.get(name)?.paths ?? [];
    const isNew = (path: string): boolean => !first.includes(path) && isSaid(path, first);
    const unread = [...fieldsOf(schema)].filter(([path, field]) => isNew(path) && whatItMeans(field, {}) === undefined);
    expect(
      unread.map(([path]) => path),
      "what is new stands in ADDED_LATER",
    ).toEqual([]);
  });

  it.each(namedSchemas())("made up is nothing that was said from the start: $name", ({ name, schema }) => {
    const first = FIRST_FORMS.get(name)?.paths ?? [];
    const isNew = newFields();
    const made = [...fieldsOf(schema)].filter(
      ([path, field]) => first.includes(path) && whatItMeans(field, {}) !== undefined,
    );
    expect(made.flatMap(([path, field]) => (isNew.has(field) ? [] : path))).toEqual([]);
  });
});

test("what an older manager does not say is null, or what it means, in lists and in answers to many, too", () => {
  const observer = FIRST_ANSWERS.createObserver?.["201"]?.[0] as { epoch: number };
  const missing = { specVersion: 1, runNumber: observer.epoch, restartsLately: 0, pending: null, startAt: null };
  expect(read("listObservers", 200, { items: [observer], total: 1, nextCursor: null })).toMatchObject({ items: [missing] });
  expect(read("createObservers", 200, { results: [{ status: 201, observer }] })).toMatchObject({
    results: [{ observer: missing }],
  });
});

test.each<[CallName, object]>([
  ["listWork", { items: [{}], total: 1, isTotalExact: true, nextCursor: null }],
  ["listTasks", { items: [], total: 1_000, isTotalExact: true }],
  ["takeTasks", { items: [{ id: "01932f5c-2f33-4c74-ab20-7d9eabc2f011", type: "mail" }] }],
])("what was always said is not made up, and an answer without it is none of a manager: %s", (call, value) => {
  expect(() => read(call, 200, value)).toThrow(expect.objectContaining({ kind: "misshapen" }));
});

const read = (call: CallName, status: number, value: unknown): unknown =>
  contractDecoder.answer(call, { request: call, status, contentType: "application/json", text: JSON.stringify(value) });

/** All that has a name of its own in what calls and their events answer. */
function namedSchemas(): { name: string; schema: z.core.$ZodType }[] {
  const found = new Map<string, z.core.$ZodType>();
  const look = (schema: z.core.$ZodType): void => {
    const name = nameOf(schema);
    if (name !== undefined && found.has(name)) return;
    if (name !== undefined) found.set(name, schema);
    for (const part of partsOf(schema)) look(part);
  };
  for (const { answers, minimal = {}, events = {} } of Object.values<Call>(CALLS))
    for (const schema of [answers, minimal, events].flatMap((some) => Object.values(some)))
      if (schema !== null) look(schema);
  return [...found].map(([name, schema]) => ({ name, schema }));
}

const nameOf = (schema: z.core.$ZodType): string | undefined => z.globalRegistry.get(schema)?.id;

function partsOf(schema: z.core.$ZodType): z.core.$ZodType[] {
  const { def } = (schema as Schema)._zod;
  if (def.type === "object") return Object.values(def.shape);
  if (def.type === "array") return [def.element];
  if (def.type === "record") return [def.valueType];
  if (def.type === "union") return [...def.options];
  return "innerType" in def ? [def.innerType as z.core.$ZodType] : [];
}

/** All that is always there, by its path; what has a name of its own is told under that. */
function fieldsOf(schema: z.core.$ZodType, at = ""): Map<string, z.core.$ZodType> {
  const { def } = (schema as Schema)._zod;
  if (def.type !== "object") {
    const step = def.type === "record" ? `${at}*.` : at;
    return new Map(partsOf(schema).flatMap((part) => (nameOf(part) === undefined ? [...fieldsOf(part, step)] : [])));
  }
  return new Map(
    Object.entries(def.shape).flatMap(([key, field]) => [
      ...(z.safeParse(field, undefined).success ? [] : [[`${at}${key}`, field] as const]),
      ...(nameOf(field) === undefined ? fieldsOf(field, `${at}${key}.`) : []),
    ]),
  );
}

/** Whether that in which it stands was there: what is new as a whole is whole. */
function isSaid(path: string, first: readonly string[]): boolean {
  const outer = path
    .split(".")
    .slice(0, -1)
    .filter((step) => step !== "*")
    .join(".");
  return outer === "" || first.includes(outer);
}

/** Of answers that have them since a later version: an event that brought an observer whole had them from the start. */
const newFields = () =>
  new Set(
    namedSchemas().flatMap(({ name, schema }) =>
      [...fieldsOf(schema)].flatMap(([path, field]) => (FIRST_FORMS.get(name)?.paths.includes(path) === false ? field : [])),
    ),
  );
