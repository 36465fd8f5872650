import type { Piece } from "./flows.ts";

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** One; ten that come after it; eight that come after all ten; one after these: 20 tasks. Its sum says whether each result was passed on. */
export function fannedFlow(): { pieces: Piece[]; sum: number } {
  const middle = numbers(10).map((i) => `m${i}`);
  const late = numbers(8).map((i) => `l${i}`);
  const pieces = [
    { ref: "first" },
    ...middle.map((ref, i) => ({ ref, after: ["first"], params: { value: i } })),
    ...late.map((ref) => ({ ref, after: middle })),
    { ref: "last", after: late },
  ];
  // Each of ten: 1 + i. Each of eight: all these, and 1.
  const each = numbers(10).reduce((sum, i) => sum + 1 + i, 0) + 1;
  return { pieces, sum: 8 * each + 1 };
}
