import { QueryFailedError } from "typeorm";
import { describe, expect, it } from "vitest";
import {
  describeBeforeBooks,
  describeDatabaseError,
  sqlStateOf,
} from "../../../services/observer-manager/src/adapters/postgres/connection/database-error.ts";

const SECRET = "hunter2";

const queryFailed = (fields: object, message = `about ${SECRET}`) =>
  new QueryFailedError(
    "INSERT … $1",
    [SECRET],
    Object.assign(new Error(message), { severity: "ERROR", detail: SECRET, where: SECRET, ...fields }),
  );

describe("a database error", () => {
  it.each(["08006", "57P01", "57P03", "53300", "57014", "40P01", "25006", "28P01"])(
    "of SQLSTATE %s passes by itself",
    (code) => {
      expect(describeDatabaseError(queryFailed({ code })).unavailable).toBe(true);
    },
  );

  it.each(["42P01", "42703", "42883"])(
    "of SQLSTATE %s passes while the books are not open: it is about to be made",
    (code) => {
      const error = queryFailed({ code });
      expect(describeDatabaseError(error).unavailable).toBe(false);
      expect(describeBeforeBooks(error)).toMatchObject({
        unavailable: true,
        detail: expect.stringContaining("migrating the tables"),
      });
      expect(describeBeforeBooks(queryFailed({ code: "42601" })).unavailable).toBe(false);
    },
  );

  it("of a statement that took too long says where it is seen who holds a lock", () => {
    expect(describeDatabaseError(queryFailed({ code: "57014" })).detail).toContain("books-blocked");
    expect(describeDatabaseError(queryFailed({ code: "57P01" }))).not.toHaveProperty("detail");
  });

  it.each(["ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "EPIPE"])("of the network (%s) passes by itself", (code) => {
    const error = Object.assign(new Error("connect"), { code });
    expect(describeDatabaseError(error).unavailable).toBe(true);
    expect(sqlStateOf(error)).toBeUndefined();
  });

  it("that pg tells by its text alone passes by itself", () => {
    for (const message of ["Connection terminated unexpectedly", "Query read timeout"])
      expect(describeDatabaseError(new Error(message)).unavailable).toBe(true);
  });

  it("of bad data or a broken rule does not, and none of its values is told", () => {
    for (const code of ["22P02", "23505", "23514"]) {
      const { unavailable, fields } = describeDatabaseError(queryFailed({ code, constraint: "status_is_known" }));
      expect(unavailable).toBe(false);
      expect(fields).toEqual({ error: "QueryFailedError", code, constraint: "status_is_known" });
    }
    expect(JSON.stringify(describeDatabaseError(queryFailed({ code: "42703" }, "no such column")))).not.toContain(SECRET);
  });

  it("that is none is our own fault, told with its stack", () => {
    const { unavailable, fields } = describeDatabaseError(new TypeError("x is not a function"));
    expect(unavailable).toBe(false);
    expect(fields["stack"]).toContain("x is not a function");
    for (const odd of [undefined, null, "text", 7]) expect(describeDatabaseError(odd).unavailable).toBe(false);
  });
});
