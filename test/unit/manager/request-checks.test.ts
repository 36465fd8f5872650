import { CALLS, CreateObserver } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import { toObserverQuery } from "../../../services/observer-manager/src/adapters/http/api/observers/observer-query.ts";
import { bodyProblems, queryProblems } from "../../../services/observer-manager/src/domain/field-problems.ts";

const ObserverListQuery = CALLS.listObservers.query;
const HONEST = { name: "gold", type: "price-watch" };

const pointersOf = (body: unknown) => {
  const parsed = CreateObserver.safeParse(body);
  return parsed.success ? [] : bodyProblems(parsed.error.issues).map(({ pointer }) => pointer);
};

describe("the body of a create", () => {
  it("may leave out all but name and type", () => {
    expect(CreateObserver.parse(HONEST)).toEqual({
      ...HONEST,
      params: {},
      pool: "default",
      labels: {},
      retry: {
        maxAttempts: "unlimited",
        delaysMs: { initialMs: 1_000, factor: 2, maxMs: 300_000, jitter: 0.2 },
        resetAfterMs: 600_000,
      },
      whenFull: "reject",
    });
  });

  it("is told what a time and what delays are", () => {
    const parsed = CreateObserver.safeParse({ ...HONEST, startAt: "2027-01-31", retry: { delaysMs: 5 } });
    const problems = bodyProblems(parsed.error?.issues ?? []);
    expect(problems.find(({ pointer }) => pointer === "/startAt")?.message).toContain("a time with its offset, such as");
    expect(problems.filter(({ pointer }) => pointer === "/retry/delaysMs").map(({ message }) => message)).toEqual([
      expect.stringContaining("must be a list of delays in ms"),
    ]);
  });

  it("is told each wrong field by a pointer, unknown ones by their name", () => {
    const body = {
      name: "a b",
      type: "",
      labels: { "bad key": "x", ok: "bad value" },
      whenFull: "maybe",
      colour: 1,
      "a/b": 2,
    };
    expect(pointersOf(body)).toEqual([
      "/name",
      "/type",
      "/type",
      "/labels/bad key",
      "/labels/ok",
      "/whenFull",
      "/colour",
      "/a~1b",
    ]);
    expect(pointersOf({ ...HONEST, name: "0190b7c8-0000-7000-8000-000000000001" })).toEqual(["/name"]);
  });

  it("is told what is wrong within the branch of a union that it is in", () => {
    const retry = (delaysMs: unknown) => pointersOf({ ...HONEST, retry: { delaysMs } });
    expect(retry({ initialMs: -1, speed: 2 })).toEqual(["/retry/delaysMs/initialMs", "/retry/delaysMs/speed"]);
    expect(retry([1, "x"])).toEqual(["/retry/delaysMs/1"]);
    expect(retry("often")).toEqual(["/retry/delaysMs"]);
  });

  it("must be an object", () => {
    for (const body of [null, [], "text", 1]) expect(pointersOf(body)).toEqual([""]);
  });
});

describe("the query of the list of observers", () => {
  const parse = (text: string) => ObserverListQuery.safeParse(Object.fromEntries(fieldsOf(text)));

  it("has defaults, lists by comma or repetition, and labels in both spellings", () => {
    expect(toObserverQuery(ObserverListQuery.parse({}))).toEqual({ sort: "newest", limit: 100 });
    const parsed = parse(
      "status=Failed,Created&status=Deleted&label=a%3Db%3Ac&label=d%3Ae&limit=7&sort=attempts&service=s-1",
    );
    expect(parsed.success && toObserverQuery(parsed.data)).toEqual({
      status: ["Failed", "Created", "Deleted"],
      labels: { a: "b:c", d: "e" },
      service: "s-1",
      limit: 7,
      sort: "attempts",
    });
  });

  it.each([
    "limit=0",
    "limit=1001",
    "limit=x",
    "limit=1&limit=2",
    "status=Running",
    "sort=youngest",
    "q=",
    "q=%00",
    "colour=red",
    "type=a%20b",
  ])("is refused, naming the parameter: %s", (text) => {
    const parsed = parse(text);
    expect(parsed.success ? [] : queryProblems(parsed.error.issues).map(({ parameter }) => parameter)).toContain(
      text.split("=")[0],
    );
  });

  it.each(["cursor=abc", "label=nothing", "label=%3Dx", "label=__proto__%3Dx", "label=a%3D"])(
    "is refused when it does not decode: %s",
    (text) => {
      const parsed = parse(text);
      expect(() => parsed.success && toObserverQuery(parsed.data)).toThrow(
        expect.objectContaining({ code: "invalid-query" }),
      );
    },
  );
});

/** As express's own parser gives them: a text, or a list where one is repeated. */
function fieldsOf(text: string): [string, string | string[]][] {
  const parameters = new URLSearchParams(text);
  return [...new Set(parameters.keys())].map((key) => {
    const all = parameters.getAll(key);
    return [key, all.length === 1 ? (all[0] ?? "") : all];
  });
}

it("A NUL in what lists are looked through for is refused, not given to PostgreSQL", () => {
  expect(CALLS.listFlows.query.safeParse({ name: "a\0" }).success).toBe(false);
  expect(CALLS.listSchedules.query.safeParse({ q: "a\0" }).success).toBe(false);
  expect(CALLS.listFlows.query.safeParse({ name: "a b" }).success).toBe(true);
});
