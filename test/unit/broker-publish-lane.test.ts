import { expect, test } from "vitest";
import type { ConfirmHooks, WireMessage } from "../../libs/broker/src/confirm-channel.ts";
import { PublishLane } from "../../libs/broker/src/publish-lane.ts";
import { Refusals } from "../../libs/broker/src/refusals.ts";

/** A lane to a broker that confirms nothing by itself, and what becomes of what is published. */
async function laneTo() {
  const sent: string[] = [];
  const settled: string[] = [];
  let hooks: ConfirmHooks | undefined;
  const session = {
    openConfirmChannel: async (given: ConfirmHooks) => {
      hooks = given;
      return { send: ({ messageId }: WireMessage) => ({ tag: sent.push(messageId), hasRoom: true }) };
    },
  };
  let idle = 0;
  const parts = { confirmTimeoutMs: 60_000, refusals: new Refusals(() => false), onIdle: () => (idle += 1) };
  const lane = await PublishLane.open(session as never, parts);
  const publish = (messageId: string, wanted?: AbortSignal) =>
    lane.publish({
      ...{ messageId, wanted, sentAtMs: 0, wire: { messageId } as WireMessage },
      resolve: () => settled.push(`${messageId} confirmed`),
      reject: ({ code }) => settled.push(`${messageId} ${code}`),
    });
  const confirmAll = () => hooks?.onConfirm(sent.length, true, true);
  return { lane, sent, settled, publish, confirmAll, idleTimes: () => idle };
}

test("What waits while the broker blocks, and is not wanted any more, makes room at once, and the others are sent in their order", async () => {
  const { lane, sent, settled, publish, confirmAll } = await laneTo();
  const gone = new AbortController();
  lane.setBlocked(true);
  publish("first");
  for (const messageId of ["of the dead 1", "of the dead 2"]) publish(messageId, gone.signal);
  publish("last", new AbortController().signal);
  gone.abort();
  expect(settled).toEqual(["of the dead 1 unwanted", "of the dead 2 unwanted"]);
  expect(lane.size).toBe(2);
  lane.setBlocked(false);
  confirmAll();
  expect(sent).toEqual(["first", "last"]);
  expect(settled.slice(2)).toEqual(["first confirmed", "last confirmed"]);
});

test("Where nothing else is open, whoever waits for that is told when the last is not wanted any more", async () => {
  const { lane, publish, idleTimes } = await laneTo();
  const gone = new AbortController();
  lane.setBlocked(true);
  publish("of the dead", gone.signal);
  gone.abort();
  expect([lane.size, idleTimes()]).toEqual([0, 1]);
});

test("What a lost connection has ended is not ended once more as its process goes", async () => {
  const { lane, settled, publish, idleTimes } = await laneTo();
  const gone = new AbortController();
  lane.setBlocked(true);
  publish("open", gone.signal);
  lane.abandon("lost");
  gone.abort();
  expect(settled).toEqual(["open unavailable"]);
  expect(idleTimes()).toBe(0);
});
