import { expect, it } from "vitest";
import { FromSlotSchema } from "../../../services/observer-service/src/keeper/slots/process/slot-messages.ts";

it("A slot that says of a batch what became of each, where it may only say so of one, is not heard in that", () => {
  const told = { kind: "settled", attempt: 1, outcome: "completed", output: "null" };
  const forged = { ...told, members: { a: { output: '"forged"' } }, constructor: 1 };
  expect(FromSlotSchema.parse(forged)).toEqual(told);
});
