import { afterAll, expect, test, vi } from "vitest";
import { CallError } from "../../../services/status-page/src/wire/call.ts";
import { restOf, sayFailure } from "../../../services/status-page/src/wire/say-failure.ts";

// Before the page's modules are loaded, whose client is for where their page came from.
vi.hoisted(() => vi.stubGlobal("location", new URL("http://127.0.0.1:8080/")));
afterAll(() => void vi.unstubAllGlobals());

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

test("What is said at the fields of a dialog is not said below them again", () => {
  const flaws = [
    { pointer: "/name", message: "is too long" },
    { pointer: "/colour", message: "there is no such field" },
  ];
  const isAtField = ({ pointer }: { pointer?: string | undefined }) => pointer === "/name";
  expect(sayFailure(restOf(refused(flaws), isAtField))).toBe("It was not taken. /colour: there is no such field");
  expect(sayFailure(restOf(refused(flaws.slice(0, 1)), isAtField))).toBe(
    "It was not taken: see what is said at the fields.",
  );
  expect(sayFailure(restOf(refused([]), isAtField))).toBe("The body is wrong. See `errors`.");
});
