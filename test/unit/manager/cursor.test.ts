import { CALLS } from "@unacked/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodeErrorCursor,
  decodeObserverCursor,
  decodeScheduleCursor,
  encodeErrorCursor,
  encodeObserverCursor,
  encodeScheduleCursor,
} from "../../../services/observer-manager/src/operations/cursor.ts";

const micros = fc.bigInt({ min: 0n, max: BigInt(Number.MAX_SAFE_INTEGER) }).map(String);

describe("a list's cursor", () => {
  it("comes back as the place it was made from, to the microsecond", () => {
    fc.assert(
      fc.property(micros, fc.uuid(), fc.nat(), (createdAtMicros, id, attempts) => {
        const newest = { sort: "newest", createdAtMicros, id } as const;
        const oldest = { ...newest, sort: "oldest" } as const;
        const byAttempts = { sort: "attempts", attempts, createdAtMicros, id } as const;
        expect(decodeObserverCursor(encodeObserverCursor(newest), "newest")).toEqual(newest);
        expect(decodeObserverCursor(encodeObserverCursor(oldest), "oldest")).toEqual(oldest);
        expect(decodeObserverCursor(encodeObserverCursor(byAttempts), "attempts")).toEqual(byAttempts);
        expect(decodeErrorCursor(encodeErrorCursor({ id: String(attempts) }))).toEqual({ id: String(attempts) });
      }),
    );
  });

  it("of schedules comes back as an id, and holds nothing that PostgreSQL refuses", () => {
    for (const id of ["nightly", "a.b-c_d:e", "x".repeat(128)])
      expect(decodeScheduleCursor(encodeScheduleCursor(id))).toBe(id);
    for (const text of ["s.\0", "s.", "s", "s.a b", "n.a"])
      expect(decodeScheduleCursor(Buffer.from(text).toString("base64url"))).toBeUndefined();
    expect(CALLS.listSchedules.query.safeParse({ q: "\0" }).success).toBe(false);
  });

  it("of one list or sort is refused by the others", () => {
    const newest = encodeObserverCursor({
      sort: "newest",
      createdAtMicros: "1",
      id: "0190b7c8-0000-7000-8000-000000000001",
    });
    expect(decodeObserverCursor(newest, "attempts")).toBeUndefined();
    expect(decodeObserverCursor(newest, "oldest")).toBeUndefined();
    expect(decodeErrorCursor(newest)).toBeUndefined();
    expect(decodeObserverCursor(encodeErrorCursor({ id: "7" }), "newest")).toBeUndefined();
  });

  it("is refused, and never throws, when it is anything else", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.base64String(),
          fc.string().map((text) => Buffer.from(text).toString("base64url")),
        ),
        (text) => {
          expect(decodeObserverCursor(text, "newest")).toBeUndefined();
          expect(decodeErrorCursor(`${text}!`)).toBeUndefined();
        },
      ),
    );
    const place = (text: string) => decodeObserverCursor(Buffer.from(text).toString("base64url"), "newest");
    expect(place("n.9007199254740993.0190b7c8-0000-7000-8000-000000000001")).toBeUndefined();
    expect(place("n.-1.0190b7c8-0000-7000-8000-000000000001")).toBeUndefined();
    expect(place("n.1.0190b7c8-0000-7000-8000-00000000000'")).toBeUndefined();
  });
});
