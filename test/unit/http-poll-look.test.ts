import { expect, test } from "vitest";
import { jsonPointerPattern, valueAt } from "../../observers/http-poll/json-pointer.ts";
import { hasChanged, lookAt } from "../../observers/http-poll/look.ts";

const document = { foo: ["bar", null], "": 0, "a/b": 1, "m~n": 8, deep: { x: { y: 7 } } };

test.each([
  ["", document],
  ["/foo/0", "bar"],
  ["/foo/1", null],
  ["/", 0],
  ["/a~1b", 1],
  ["/m~0n", 8],
  ["/deep/x/y", 7],
  ["/foo/2", undefined],
  ["/foo/00", undefined],
  ["/foo/length", undefined],
  ["/nothing/here", undefined],
  ["/toString", undefined],
])("the pointer %j finds %j", (pointer, expected) => {
  expect(valueAt(document, pointer)).toEqual(expected);
});

test("what is no pointer is told by the pattern", () => {
  expect(["", "/a", "/a~1b/0"].every((text) => jsonPointerPattern.test(text))).toBe(true);
  expect(["a", "/a~2", "/~"].some((text) => jsonPointerPattern.test(text))).toBe(false);
});

test("a look holds status and value; no JSON is an error, a missing value is absent", () => {
  expect(lookAt(200, '{"a":1}', "/a")).toEqual({ status: 200, value: 1 });
  expect(lookAt(200, '{"a":null}', "/a")).toEqual({ status: 200, value: null });
  expect(lookAt(200, '{"b":1}', "/a")).toEqual({ status: 200 });
  expect(lookAt(502, "<html>", "/a")).toEqual({ status: 502, error: "the body is not JSON" });
});

test("status or value make a change; the words of an error do not", () => {
  expect(hasChanged(undefined, { status: 200 })).toBe(true);
  expect(hasChanged({ status: 200 }, { status: 500 })).toBe(true);
  expect(hasChanged({ status: 200, value: { a: [1] } }, { status: 200, value: { a: [1] } })).toBe(false);
  expect(hasChanged({ status: 200 }, { status: 200, value: null })).toBe(true);
  expect(hasChanged({ status: "unreachable", error: "refused" }, { status: "unreachable", error: "timeout" })).toBe(false);
});
