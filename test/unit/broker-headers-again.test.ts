import { expect, test } from "vitest";
import { HeadersAgain } from "../../libs/broker/src/headers-again.ts";

test("Headers are lent as they are, and none is left of the message before", () => {
  const again = new HeadersAgain();
  const messages = [
    { v: 1, at: "2026-01-01", name: "a" },
    { v: 1, at: "2026-01-02", name: undefined },
    { v: 1 },
    { name: "b", at: "2026-01-03", v: 2 },
    {},
    { v: 1, nested: { "!": "long", value: 3 } },
  ];
  for (const headers of [...messages, ...messages.toReversed()]) {
    const lent = again.lend(headers);
    expect(lent).toEqual(headers);
    expect(Object.keys(lent)).toEqual(Object.keys(headers));
  }
});

test("As many sets of names as come do not stay for ever", () => {
  const again = new HeadersAgain();
  for (let i = 0; i < 1_000; i += 1) {
    const headers = { [`name-${i}`]: i };
    expect(again.lend(headers)).toEqual(headers);
    expect(again.lend(headers) === headers).toBe(i >= 64); // those beyond are not kept
  }
});
