import { describe, expect, it } from "vitest";
import { type AdmissionLine, admissionViolations } from "../support/acts/admissions.ts";

const line = (atMs: number, kind: AdmissionLine["kind"], runId: string, fencingToken: number, n: number): AdmissionLine => ({
  observerId: "one",
  runId,
  fencingToken,
  n,
  kind,
  monotonicNs: BigInt(atMs) * 1_000_000n,
});
const GOOD = [
  line(1, "given", "a", 1_000, 0),
  line(2, "resolved", "a", 1_000, 3),
  line(3, "given", "a", 1_000, 3), // its next attempt
  line(4, "given", "b", 1_001, 4), // a later one than that which resolved
  line(5, "resolved", "b", 1_001, 5),
  line(6, "given", "c", 2_001, 5),
];
const found = (lines: AdmissionLine[]) => admissionViolations(lines).map(({ invariant }) => invariant);

describe("the judge of fencing tokens and checkpoints", () => {
  it("finds nothing where all is well, in whatever order it is written", () => {
    expect([found(GOOD), found(GOOD.toReversed())]).toEqual([[], []]);
  });

  it("finds a token that comes twice, or falls", () => {
    expect(found([...GOOD, line(7, "given", "d", 2_001, 5)])).toEqual(["token-repeated"]);
    expect(found([...GOOD, line(7, "given", "d", 1_500, 5)])).toEqual(["token-repeated"]);
  });

  it("finds a start below what had resolved by then, and not below what resolves later", () => {
    expect(found([...GOOD, line(7, "given", "d", 3_001, 4)])).toEqual(["checkpoint-lost"]);
    expect(found([...GOOD, line(8, "resolved", "c", 2_001, 9)])).toEqual([]);
  });

  it("tells one whose run was gone before restored books were told of it from one that was lost", () => {
    const restored = { fromNs: 6_500_000n, toNs: 8_000_000n };
    const lines = [...GOOD, line(7, "given", "d", 3_001, 2), line(9, "given", "e", 4_001, 2)];
    expect(admissionViolations(lines, [restored]).map(({ invariant }) => invariant)).toEqual(["gone-at-restore"]);
    const later = [
      ...lines,
      line(10, "given", "f", 5_001, 1),
      line(11, "resolved", "f", 5_001, 3),
      line(12, "given", "g", 6_001, 2),
    ];
    expect(admissionViolations(later, [restored]).map(({ invariant }) => invariant)).toEqual([
      "gone-at-restore",
      "checkpoint-lost",
    ]);
  });
});
