import { describe, expect, test } from "vitest";
import { flawOfBrokerUrls } from "../../libs/broker/src/broker-settings.ts";
import { NodeRound } from "../../libs/broker/src/broker-urls.ts";
import { ReconnectBackoff } from "../../libs/broker/src/reconnect-backoff.ts";
import { Unconfirmed } from "../../libs/broker/src/unconfirmed.ts";

describe("the delays between connects", () => {
  test("double from about 50 ms to about 1 s, each drawn from its upper half", () => {
    const delays = (random: number) => {
      const backoff = new ReconnectBackoff(undefined, () => random);
      return Array.from({ length: 9 }, () => backoff.nextMs(0));
    };
    expect(delays(0)).toEqual([25, 50, 100, 200, 400, 500, 500, 500, 500]);
    expect(delays(1)).toEqual([50, 100, 200, 400, 800, 1_000, 1_000, 1_000, 1_000]);
  });

  test("start over after a session that was up for a while, and only after such a one", () => {
    const backoff = new ReconnectBackoff(undefined, () => 1);
    for (let i = 0; i < 5; i += 1) backoff.nextMs(0);
    expect(backoff.nextMs(9_999)).toBe(1_000);
    expect(backoff.nextMs(10_000)).toBe(50);
  });
});

describe("the nodes of a broker", () => {
  const three = "amqp://u:p%2C1@a:5672/v, amqp://u:p%2C1@b:5672/v,amqp://u:p%2C1@c:5672/v";

  test("are tried one after the other, from any of them on", () => {
    const hosts = (random: number) => {
      const round = new NodeRound(three, () => random);
      return Array.from({ length: 5 }, () => new URL(round.next()).hostname).join("");
    };
    expect([0, 0.4, 0.99].map(hosts)).toEqual(["abcab", "bcabc", "cabca"]);
    expect(new NodeRound("amqp://only").next()).toBe("amqp://only");
  });

  test("are all of one kind and one vhost, or it is said what is wrong", () => {
    expect(flawOfBrokerUrls(three)).toBeUndefined();
    expect(flawOfBrokerUrls("amqps://a,amqps://b")).toBeUndefined();
    for (const text of ["", "a", "http://a", "amqp://a,b", "amqp://a,amqp://"])
      expect(flawOfBrokerUrls(text), text).toMatch(/^must look like amqp:/);
    for (const text of ["amqp://a,amqps://b", "amqp://a/v,amqp://b/w"])
      expect(flawOfBrokerUrls(text), text).toMatch(/same vhost$/);
  });
});

describe("what is unconfirmed", () => {
  const sent = (messageId: string, sentAtMs = 0) => ({ messageId, sentAtMs });

  test("is settled one by one or all up to a tag, and unknown tags are nothing", () => {
    const open = new Unconfirmed();
    for (const tag of [1, 2, 3, 4, 5]) open.add(tag, sent(`m${tag}`));
    const ids = (settled: { sent: { messageId: string } }[]) => settled.map((each) => each.sent.messageId);
    expect(ids(open.settle(2, false))).toEqual(["m2"]);
    expect(ids(open.settle(4, true))).toEqual(["m1", "m3", "m4"]);
    expect(ids(open.settle(4, false))).toEqual([]);
    expect(ids(open.settle(9, false))).toEqual([]);
    expect(open.size).toBe(1);
  });

  test("keeps a return to the message it belongs to, the first of two with one id", () => {
    const open = new Unconfirmed();
    open.add(1, sent("same"));
    open.add(2, sent("same"));
    open.add(3, sent("other"));
    open.markReturned("same", "NO_ROUTE");
    open.markReturned("never sent", "NO_ROUTE");
    expect(open.settle(3, true).map(({ returned }) => returned)).toEqual(["NO_ROUTE", undefined, undefined]);
    // A later publish of that id starts clean.
    open.add(4, sent("same"));
    expect(open.settle(4, false)[0]?.returned).toBeUndefined();
  });

  test("keeps each of many returns to its own, whether or not they come in the order of sending", () => {
    const open = new Unconfirmed();
    for (const tag of [1, 2, 3, 4, 5]) open.add(tag, sent(tag === 4 ? "m2" : `m${tag}`));
    for (const id of ["m2", "m3", "m1", "m2"]) open.markReturned(id, id);
    expect(open.settle(2, true).map(({ returned }) => returned)).toEqual(["m1", "m2"]);
    open.markReturned("m5", "m5");
    expect(open.settle(5, true).map(({ returned }) => returned)).toEqual(["m3", "m2", "m5"]);
    open.add(6, sent("m6"));
    open.markReturned("m6", "m6");
    expect(open.settle(6, false)[0]?.returned).toBe("m6");
    // Of what was given up meanwhile, on a channel on which much was sent.
    open.add(1e12, sent("given up"));
    open.takeAll();
    open.markReturned("given up", "late");
    expect(open.size).toBe(0);
  });

  test("names its oldest, and gives out what is older than a moment", () => {
    const open = new Unconfirmed();
    open.add(1, sent("a", 10));
    open.add(2, sent("b", 20));
    open.add(3, sent("c", 30));
    open.settle(1, false);
    expect(open.oldestSentAtMs).toBe(20);
    expect(open.takeSentBefore(30).map(({ messageId }) => messageId)).toEqual(["b"]);
    expect(open.takeAll().map(({ messageId }) => messageId)).toEqual(["c"]);
    expect(open.oldestSentAtMs).toBeUndefined();
  });
});
