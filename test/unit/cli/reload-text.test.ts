import type { ServiceReload } from "@unacked/contracts";
import { describe, expect, test } from "vitest";
import { lackText, type ReloadAnswer, refusalText, reloadAnswer, reloadLine } from "../../../cli/src/output/reload-text.ts";
import { serviceView } from "./views.ts";

const ANSWER: ReloadAnswer = {
  at: "2026-01-02T00:00:01.000Z",
  outcome: "loaded",
  changed: [],
  added: [],
  gone: [],
  brokenFiles: [],
};
const reload = (changes: Partial<ServiceReload> = {}) =>
  serviceView({
    reload: { id: "0197d5c0-0000-7000-8000-0000000000a1", askedAt: "2026-01-02T00:00:00.000Z", answer: null, ...changes },
  });
const asked = reload();

describe("what a service said of a reload", () => {
  test("is the answer to what was asked, or to what somebody asked later; not to what was asked before", () => {
    const [id, askedAt] = ["0197d5c0-0000-7000-8000-0000000000a2", "2026-01-02T00:00:00.000Z"];
    expect(reloadAnswer(asked, asked)).toBeUndefined();
    expect(reloadAnswer(asked, reload({ answer: ANSWER }))).toEqual(ANSWER);
    expect(reloadAnswer(asked, reload({ id, askedAt: "2026-01-02T00:00:00.001Z" }))).toBeUndefined();
    expect(reloadAnswer(asked, reload({ id, askedAt: "2026-01-02T00:00:00.001Z", answer: ANSWER }))).toEqual(ANSWER);
    // Books that were restored meanwhile may show an older one.
    expect(reloadAnswer(asked, reload({ id, askedAt: "2026-01-01T23:59:59.999Z", answer: ANSWER }))).toBeUndefined();
    expect(reloadAnswer(reload({ id, askedAt }), serviceView({ reload: null }))).toBeUndefined();
  });

  test("is told in a line, with the types by what has become of them", () => {
    expect(reloadLine(asked, { ...ANSWER, changed: ["stamp", "counter"], gone: ["walker"] })).toBe(
      "service service-1 has loaded its folder again (changed: stamp, counter; gone: walker)",
    );
    expect(reloadLine(asked, { ...ANSWER, outcome: "unchanged" })).toBe(
      "service service-1 has loaded its folder again: its code has not changed",
    );
  });

  test("that has loaded all but what does not load is told with the text of each file", () => {
    expect(lackText(asked)).toBeUndefined();
    const brokenFiles = [{ file: "/o/new.ts", problem: "it does not load", excerpt: "> 5 | x" }];
    expect(lackText({ ...asked, brokenFiles })).toEqual({
      message: "service service-1 lacks the types of a file that does not load",
      details: ["/o/new.ts: it does not load", "  > 5 | x"],
    });
    expect(lackText({ ...asked, brokenFiles: [...brokenFiles, { file: "/o/b.ts", problem: "no" }] })?.message).toContain(
      "of 2 files that do not load",
    );
  });

  test("that keeps its old code is told with the text of each file at fault", () => {
    const excerpt = "> 5 |   async run({ signal ) {\n    |                      ^";
    const feed = {
      file: "/o/feed.ts",
      problem: "it does not load",
      place: { file: "/o/lib.ts", line: 5, column: 22 },
      excerpt,
    };
    const answer: ReloadAnswer = {
      ...ANSWER,
      outcome: "refused",
      why: "a file does not load",
      brokenFiles: [feed, { file: "/o/other.ts", problem: "it has no default export" }],
    };
    expect(refusalText(asked, answer)).toEqual({
      message: "service service-1 keeps its old code: a file does not load",
      details: [
        "/o/lib.ts:5:22: it does not load",
        "  > 5 |   async run({ signal ) {",
        "      |                      ^",
        "/o/other.ts: it has no default export",
      ],
    });
  });

  test("that keeps it for a reason of more lines shows them; to viewers it says no reason", () => {
    const answer: ReloadAnswer = { ...ANSWER, outcome: "refused", why: "no file loads\n/o/feed.ts:5:22: no\n> 5 | x" };
    expect(refusalText(asked, answer)).toMatchObject({
      message: "service service-1 keeps its old code: no file loads",
      details: ["/o/feed.ts:5:22: no", "> 5 | x"],
    });
    const { why: _why, ...withheld } = answer;
    expect(refusalText(asked, withheld).message).toBe("service service-1 keeps its old code");
  });
});
