import { beforeEach, expect, it } from "vitest";
import { FromSlotSchema } from "../../../services/observer-service/src/keeper/slots/slot-messages.ts";
import { WireLog } from "../../../services/observer-service/src/slot/wire-log.ts";
import type { FromSlot } from "../../../services/observer-service/src/wire/messages.ts";

let sent: FromSlot[];
let wireLog: WireLog;

beforeEach(() => {
  sent = [];
  const wire = { send: (message: FromSlot) => void sent.push(message), sendJson: (json: string) => takeJson(json) };
  wireLog = new WireLog(wire, "info");
});

/** As the keeper would. */
const takeJson = (json: string): void => void sent.push(FromSlotSchema.parse(JSON.parse(json)));

const says = (fields: object, message = "said"): void => wireLog.of(1).info({ fields }, message);
const fieldsOf = (line: FromSlot | undefined) => (line?.kind === "log" ? line.fields?.["fields"] : undefined);

it("values that are not JSON are written all the same: BigInt, and what leads back to itself", () => {
  const ring: Record<string, unknown> = { n: 1 };
  ring["self"] = ring;
  const shared = { a: 1 };
  says({ small: 7n, large: 2n ** 64n, ring, one: shared, other: shared });
  expect(fieldsOf(sent[0])).toEqual({
    small: 7,
    large: "18446744073709551616",
    ring: { n: 1, self: "[Circular]" },
    one: { a: 1 },
    other: { a: 1 },
  });
});

it("lines that cannot be written take no credit: what is logged after thousands of them is sent", () => {
  const hostile = {
    get boom(): never {
      throw new Error("boom");
    },
  };
  for (let i = 0; i < 2_001; i += 1) expect(() => says({ hostile })).toThrow("boom");
  says({}, "still heard");
  expect(sent).toMatchObject([{ kind: "log", message: "still heard" }]);
});
