import { expect, test } from "vitest";
import { CallError } from "../../../services/status-page/src/wire/call.ts";
import { sayFailure } from "../../../services/status-page/src/wire/say-failure.ts";

const refused = (fieldErrors: { pointer?: string; message: string }[]): CallError =>
  new CallError({
    code: "invalid-body",
    title: "The body is wrong",
    message: "The body is wrong",
    remedy: "See `errors`.",
    fieldErrors,
  });

test("What was refused for its fields says what is wrong with each, and nothing of bodies", () => {
  const flaws = [{ pointer: "/task/pool", message: "nobody serves it" }, { message: "needs a task or observers" }];
  expect(sayFailure(refused(flaws))).toBe("It was not taken. /task/pool: nobody serves it; needs a task or observers");
});

test("Any other failure says what to do about it", () => {
  expect(sayFailure(refused([]))).toBe("The body is wrong. See `errors`.");
  expect(sayFailure(new Error("The params cannot be read."))).toBe("The params cannot be read.");
});
