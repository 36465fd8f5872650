import { everythingPermitted } from "@unacked/sdk";
import { expect, test } from "vitest";
import httpPoll from "../../../observers/http-poll.ts";
import priceWatch from "../../../observers/price-watch.ts";
import process from "../../../observers/process.ts";
import ticker from "../../../observers/ticker.ts";

test.each([
  [ticker, "the first after one interval"],
  [httpPoll.under(everythingPermitted), "what it finds first, at once"],
  [priceWatch.under(everythingPermitted), "nothing at first"],
  [process.under(everythingPermitted), "as it prints it"],
])("a shipped type says in its description when it emits first (%#)", (observer, words) => {
  expect(observer).toMatchObject({ description: expect.stringContaining(words) });
});
