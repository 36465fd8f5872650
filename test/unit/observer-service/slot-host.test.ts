import { defineObserver } from "@unacked/sdk";
import { expect, it } from "vitest";
import { z } from "zod";
import { currentOwner } from "../../../services/observer-service/src/isolation.ts";
import { SlotHost } from "../../../services/observer-service/src/slot/slot-host.ts";
import { FrameWriter } from "../../../services/observer-service/src/wire/frames.ts";
import type { FromSlot } from "../../../services/observer-service/src/wire/messages.ts";
import { SilenceWatch } from "../../../services/observer-service/src/wire/silence-watch.ts";
import { eventually } from "../../support/eventually.ts";

it("what a handler has thrown is looked at as its run: code of the author's that stands in it is that run's", async () => {
  const lookers: (string | undefined)[] = [];
  const thrown = Object.defineProperty(new Error("x"), "stack", {
    get: () => {
      lookers.push(currentOwner()?.runId);
      return "";
    },
  });
  const type = defineObserver({
    type: "throws",
    params: z.object({}),
    run: async () => {
      throw thrown;
    },
  });
  let written = "";
  const socket = { writable: true, write: (text: string) => (written += text) !== "" };
  const host = new SlotHost({
    ...{ types: new Map([["throws", type]]), tasks: new Map(), watch: new SilenceWatch(), tracing: undefined },
    ...{ wire: new FrameWriter<FromSlot>(socket as never), logLevel: "silent", stopTimeoutMs: 1_000, saveEveryMs: 1_000 },
  });
  const who = { observerId: "o", name: "n", type: "throws", labels: {}, params: {} };
  host.take({ kind: "begin", attempt: 1, runId: "run-1", ...who } as never);
  await eventually(() => expect(written).toContain('"settled"'));
  expect(new Set(lookers)).toEqual(new Set(["run-1"]));
});
