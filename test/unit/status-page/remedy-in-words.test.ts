import { PROBLEMS } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import { remedyInWords } from "../../../services/status-page/src/wire/remedy-in-words.ts";

describe("a remedy on the page", () => {
  it("says in how many seconds, and not by what header", () => {
    expect(remedyInWords(PROBLEMS["database-unavailable"].remedy, 2)).toBe("Try again in 2 s.");
    expect(remedyInWords(PROBLEMS["too-many-requests"].remedy, 60)).toMatch(/^Wait 60 s\. /);
    expect(remedyInWords(PROBLEMS.forbidden.remedy, undefined)).toContain("a token of that role, or a higher one");
    expect(remedyInWords(PROBLEMS["not-ready"].remedy, undefined)).toBe("Try again later; see /readyz.");
  });

  it.each(Object.entries(PROBLEMS))("of %s names no header", (_code, { remedy }) =>
    expect(remedyInWords(remedy, 1)).not.toContain("Retry-After"),
  );
});
