import { RefusedError, type Session } from "@unacked/broker";
import { expect, it } from "vitest";
import { lookAt } from "../../../services/observer-manager/src/adapters/amqp/pools/queue-look.ts";

const refusedWith = (detail: string): Session => {
  const inspect = () => Promise.reject(new RefusedError("look at queue q", { kind: "channel-closed", detail }));
  return { openSideChannel: async () => ({ inspect, close: async () => undefined }) } as unknown as Session;
};

it("finds nothing in a queue that somebody has deleted", async () => {
  const session = refusedWith("404 NOT_FOUND - no queue 'q' in vhost '/'");
  expect(await lookAt(session, "q")).toEqual({ ready: 0, consumers: 0 });
});

it("does not know what is in a queue whose node is down, or that may not be asked for", async () => {
  for (const detail of [
    "404 NOT_FOUND - home node 'rabbit@b' of durable queue 'q' in vhost '/' is down or inaccessible",
    "403 ACCESS_REFUSED - access to queue 'q' in vhost '/' refused for user 'u'",
  ])
    expect(await lookAt(refusedWith(detail), "q"), detail).toBeNull();
});
