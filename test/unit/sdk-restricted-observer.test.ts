import { defineObserver, everythingPermitted, type Permissions, restrictObserver, runObserver } from "@unacked/sdk";
import { offeredUnder } from "@unacked/sdk/host";
import { expect, test } from "vitest";
import { z } from "zod";

const plain = defineObserver({ type: "plain", params: z.strictObject({}), run: async () => undefined });
const restricted = restrictObserver(({ commands }) =>
  commands.length === 0
    ? { notOffered: "permit commands" }
    : defineObserver({
        type: "restricted",
        params: z.strictObject({ command: commands === "any" ? z.string() : z.enum(commands) }),
        run: async ({ params, emit }) => emit(params),
      }),
);
const nothing: Permissions = { commands: [], variables: [], privateAddresses: false };

test("a restricted type is made for what is permitted, and may not exist at all", () => {
  expect(offeredUnder(restricted, { ...nothing, commands: ["ls"] })).toMatchObject({ type: "restricted" });
  expect(offeredUnder(restricted, nothing)).toEqual({ notOffered: "permit commands" });
});

test("a type that asks for nothing is the same under any permissions; what is no type is told apart", () => {
  expect(offeredUnder(plain, nothing)).toBe(plain);
  for (const value of [undefined, null, {}, () => plain, { under: () => plain }])
    expect(offeredUnder(value, everythingPermitted)).toBeUndefined();
});

test("what makes neither a definition nor a refusal is named", () => {
  expect(() =>
    offeredUnder(
      restrictObserver(() => ({}) as never),
      nothing,
    ),
  ).toThrow(/neither a definition nor/);
  expect(() => restrictObserver(plain as never)).toThrow(/takes a function/);
});

test("the harness permits everything unless told otherwise, and says what is not offered", async () => {
  expect(await runObserver(restricted, { params: { command: "rm" } }).finished).toEqual({ outcome: "completed" });
  const some = { ...nothing, commands: ["ls"] };
  expect(await runObserver(restricted, { params: { command: "rm" }, permissions: some }).finished).toMatchObject({
    outcome: "failed",
    error: { code: "invalid-params" },
  });
  expect(() => runObserver(restricted, { permissions: nothing })).toThrow(
    expect.objectContaining({ code: "not-offered", message: expect.stringContaining("permit commands") }),
  );
});
