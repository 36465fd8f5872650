import { expect, test } from "vitest";
import { answeredTogether } from "../../../services/observer-manager/src/operations/observers/bulk.ts";
import type { ObserverRef } from "../../../services/observer-manager/src/operations/observers/observer-tools.ts";

const MIB = 1_048_576;
const refs = (count: number) => Array.from({ length: count }, (_, i) => ({ kind: "name", name: `o-${i}` }) as ObserverRef);
const lengthsOf = (count: number, size: number) =>
  answeredTogether(
    refs(count),
    refs(count).map(() => size),
  ).map(({ length }) => length);

test("observers are asked a thousand at a time, fewer where they are long, and no more than one answer shows", () => {
  expect(lengthsOf(2_500, 0)).toEqual([1_000, 1_000, 500]);
  expect(lengthsOf(9_999, 2_000)).toEqual([...Array.from({ length: 9 }, () => 1_000), 999]);
  expect(lengthsOf(12, 3 * MIB)).toEqual([2, 2, 2, 2, 2]);
  expect(lengthsOf(100, MIB)).toEqual([8, 8, 8, 8]);
});

test("each is asked once, in the order given, and the first whatever its length", () => {
  const some = refs(5);
  expect(answeredTogether(some, [0, 9 * MIB, 0, 9 * MIB, 0]).flat()).toEqual(some);
  expect(answeredTogether(some, [40 * MIB, 1, 1, 1, 1])).toEqual([[some[0]]]);
  expect(answeredTogether(some, [])).toEqual([some]);
  expect(answeredTogether([], [])).toEqual([]);
});
