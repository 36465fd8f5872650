import { expect, test } from "vitest";
import { jsonPointerPattern, valueAt } from "../../observers/http-poll/json-pointer.ts";
import { hasChanged, lookAt, maxValueBytes } from "../../observers/http-poll/look.ts";

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

test("a whole number beyond 2^53 is a text, each digit as it was sent, and nothing else is touched", () => {
  const at = (pointer: string, body: string) => lookAt(200, body, pointer).value;
  const body = `{"ids":[9007199254740993,-9007199254740994, 9007199254740991],"9007199254740993":"says \\"9007199254740993\\": 9007199254740993",
    "at" : 1764000000123456789,"rate":0.12345678901234567,"far":12345678901234567e-3,"small":1e-9007199254740993,"half":12345678901234567.5}`;
  expect(at("/ids", body)).toEqual(["9007199254740993", "-9007199254740994", 9_007_199_254_740_991]);
  expect(at("/9007199254740993", body)).toBe('says "9007199254740993": 9007199254740993');
  expect(at("/at", body)).toBe("1764000000123456789");
  expect(["/rate", "/far", "/small", "/half"].map((pointer) => typeof at(pointer, body))).toEqual(Array(4).fill("number"));
  expect(at("", "9007199254740993")).toBe("9007199254740993");
  const before = lookAt(200, '{"id":9007199254740992}', "/id");
  expect(hasChanged(before, lookAt(200, '{"id":9007199254740993}', "/id"))).toBe(true);
});

test("what begins a text again and again, and never ends one, takes no longer to be found no JSON", () => {
  const body = `["9007199254740993${'\\"'.repeat(500_000)}`;
  expect(lookAt(200, body, "")).toEqual({ status: 200, error: "the body is not JSON" });
  expect(lookAt(200, `9007199254740993 "${"x".repeat(1_000_000)}`, "")).toHaveProperty("error");
  const long = "\u2028".repeat(300_000);
  expect(lookAt(200, JSON.stringify([long]).replace("]", ",9007199254740993]"), "/1").value).toBe("9007199254740993");
});

test("a value that no event has room for is an error, as a body that is too long", () => {
  const value = "x".repeat(maxValueBytes - 2);
  expect(lookAt(200, JSON.stringify(value), "")).toEqual({ status: 200, value });
  expect(lookAt(200, JSON.stringify(`${value}x`), "")).toEqual({
    status: 200,
    error: `the value is over ${maxValueBytes} bytes`,
  });
  expect(lookAt(200, `[${"1e20,".repeat(100_000)}0]`, "")).toHaveProperty("error");
});

test("status or value make a change; the words of an error do not", () => {
  expect(hasChanged(undefined, { status: 200 })).toBe(true);
  expect(hasChanged({ status: 200 }, { status: 500 })).toBe(true);
  expect(hasChanged({ status: 200, value: { a: [1] } }, { status: 200, value: { a: [1] } })).toBe(false);
  expect(hasChanged({ status: 200 }, { status: 200, value: null })).toBe(true);
  expect(hasChanged({ status: "unreachable", error: "refused" }, { status: "unreachable", error: "timeout" })).toBe(false);
});
