import { describe, expect, it } from "vitest";
import {
  escapeLike,
  SqlConditions,
} from "../../../services/observer-manager/src/adapters/postgres/statements/sql-conditions.ts";

describe("conditions of a WHERE", () => {
  it("number their values as they come and keep them out of the text", () => {
    const conditions = new SqlConditions().and("a = ?", "x'").and("(b, c) < (?::int, ?)", 1, 2);
    expect(conditions.where).toBe("WHERE a = $1 AND (b, c) < ($2::int, $3)");
    expect(conditions.parameters).toEqual(["x'", 1, 2]);
    expect(new SqlConditions().where).toBe("");
  });

  it("take a text literally within LIKE", () => {
    expect(escapeLike(String.raw`50%_\x`)).toBe(String.raw`50\%\_\\x`);
  });
});
