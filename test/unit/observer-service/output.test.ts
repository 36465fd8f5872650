import { newMessageId, newObserverId, newRunId, newServiceId, type StartObserver } from "@unacked/contracts";
import { MAX_EVENT_BYTES } from "@unacked/sdk";
import { expect, test } from "vitest";
import { createOutput } from "../../../services/observer-service/src/keeper/outbox/output.ts";

test("an event that the broker would close the channel over is refused alone, and says how large it may be", async () => {
  const published: string[] = [];
  const publisher = { publish: async ({ messageId }: { messageId: string }) => void published.push(messageId) };
  const output = createOutput(publisher, newServiceId(), () => undefined);
  const start = { observerId: newObserverId(), name: "a", type: "b", messageId: newMessageId() } as StartObserver;

  await output(start, { runId: newRunId() }, JSON.stringify("x".repeat(MAX_EVENT_BYTES - 2)));
  const tooLarge = output(start, { runId: newRunId() }, JSON.stringify("ž".repeat(MAX_EVENT_BYTES / 2)));
  await expect(tooLarge).rejects.toMatchObject({ code: "output-too-large", message: expect.stringContaining("1048576") });
  expect(published).toHaveLength(1);
});
