import { QueryFailedError } from "typeorm";
import { expect, test } from "vitest";
import { withoutValues } from "../../../services/observer-manager/src/log.ts";

const thrownBy = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return error;
  }
};

test("A bug is logged with where it is", () => {
  const bug = thrownBy(() => (JSON.parse("{}") as { row: { id: string } }).row.id);
  expect(withoutValues(bug)).toEqual({
    name: "TypeError",
    message: expect.stringContaining("reading 'id'"),
    stack: expect.stringMatching(/^ +at .*logged-errors\.test\.ts/),
  });
});

test("What comes from outside is logged by its name and code, and a query without its parameters", () => {
  const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" });
  expect(withoutValues(refused)).toEqual({ name: "Error", message: refused.message, code: "ECONNREFUSED" });
  const failed = new QueryFailedError("SELECT $1", ["secret"], new Error("it holds secret"));
  expect(JSON.stringify(withoutValues(failed))).not.toContain("secret");
});
