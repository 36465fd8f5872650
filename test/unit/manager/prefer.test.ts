import { expect, it } from "vitest";
import { prefersMinimal } from "../../../services/observer-manager/src/adapters/http/api/prefer.ts";

it.each([
  ["return=minimal", true],
  ['Return="minimal"; foo=bar', true],
  ["respond-async, wait=5 , return=MINIMAL", true],
  ["return=minimal, return=representation", true],
  ["return=representation, return=minimal", false],
  ["return=minimalist", false],
  ["noreturn=minimal", false],
  ["", false],
  [undefined, false],
])("of %j, receipts are asked for: %j", (header, isMinimal) => {
  expect(prefersMinimal(header)).toBe(isMinimal);
});
