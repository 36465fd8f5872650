import { CreateTimer, PutTimer } from "@unacked/contracts";
import { expect, test } from "vitest";

const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
const problemOf = (times: object) => {
  const told = PutTimer.safeParse({ name: "lunch", ...times }).error?.issues.map(({ path, message }) => [
    path.join("."),
    message,
  ]);
  const id = "0198a1de-9c47-7b5e-8c41-5d0e6f7a8b90";
  expect(CreateTimer.safeParse({ id, name: "lunch", ...times }).error?.issues.map(({ message }) => message)).toEqual(
    told?.map(([, message]) => message),
  );
  return told?.[0];
};

test("a timer is told when it is due in one way, and does not expire before that", () => {
  expect(problemOf({ inMs: 60_000, expiresAt: inMinutes(2) })).toBeUndefined();
  expect(problemOf({ inMs: 180_000, expiresAt: inMinutes(2) })).toBeUndefined(); // by whose clock? The database says
  expect(problemOf({ at: inMinutes(3), expiresAt: inMinutes(2) })).toEqual(["expiresAt", "must be after `at`"]);
  expect(problemOf({ at: inMinutes(3), inMs: 1 })).toEqual(["", "needs either `at` or `inMs`"]);
  expect(problemOf({})).toEqual(["", "needs either `at` or `inMs`"]);
});
