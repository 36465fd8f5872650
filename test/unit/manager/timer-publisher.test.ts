import { setMaxListeners } from "node:events";
import { type Outgoing, PublishError, type Publisher } from "@unacked/broker";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TimerPublisher } from "../../../services/observer-manager/src/adapters/amqp/timers/timer-publisher.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

interface Open {
  name: string;
  confirm(): void;
  reject(code: PublishError["code"]): void;
}

/** A connection to the broker, and what is open on it; what is published while it blocks waits until it is unwanted. */
function connection() {
  const open: Open[] = [];
  let toldHeldUp: (() => void)[] = [];
  const publisher = {
    isStarted: false,
    isWritable: true,
    renewals: 0,
    heldUp: () =>
      new Promise<void>((resolve) => {
        if (publisher.isWritable) toldHeldUp.push(resolve);
        else resolve();
      }),
    start() {
      publisher.isStarted = true;
    },
    startOver() {
      publisher.renewals += 1;
    },
    publish: ({ routingKey, messageId }: Outgoing, wanted?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        const refuse = (code: PublishError["code"]) => reject(new PublishError(code, messageId, "not taken"));
        if (publisher.isWritable) open.push({ name: routingKey, confirm: resolve, reject: refuse });
        else if (wanted !== undefined) {
          setMaxListeners(0, wanted);
          wanted.addEventListener("abort", () => refuse("unwanted"));
        }
      }),
  };
  const block = (): void => {
    publisher.isWritable = false;
    for (const tell of toldHeldUp) tell();
    toldHeldUp = [];
  };
  return { open, publisher, block };
}

function publishing() {
  const [main, aside] = [connection(), connection()];
  const timers = new TimerPublisher(main.publisher as unknown as Publisher, aside.publisher as unknown as Publisher);
  const publish = (name: string) => timers.publish({ routingKey: name, messageId: "m" } as Outgoing);
  const many = (name: string, count: number) => Promise.all(Array.from({ length: count }, () => publish(name)));
  /** Its queue does not take it where all others go, and from now on it goes aside. */
  const sendAside = async (name: string, code: PublishError["code"] = "too-late") => {
    const outcome = publish(name);
    main.open.pop()?.reject(code);
    await outcome;
  };
  return { main, aside, publish, many, sendAside };
}

/** And what is sent then. */
async function confirmAll(open: readonly Open[]): Promise<void> {
  for (let sent = 0; sent < open.length; ) {
    const confirmed = open.slice(sent);
    sent = open.length;
    for (const { confirm } of confirmed) confirm();
    await vi.advanceTimersByTimeAsync(0);
  }
}

/** How many of each. */
const counted = (outcomes: string[]): Record<string, number> =>
  Object.fromEntries([...new Set(outcomes)].map((one) => [one, outcomes.filter((other) => other === one).length]));

test("Of a name no more is open than RabbitMQ bears from a queue that confirms nothing; with what is confirmed there is room for more", async () => {
  const { main, publish, many } = publishing();
  const stuck = many("stuck", 100);
  const other = publish("other");
  expect([main.open.filter(({ name }) => name === "stuck").length, main.open.at(-1)?.name]).toEqual([16, "other"]);
  main.open.pop()?.confirm();
  expect(await other).toBe("fired");
  await confirmAll(main.open);
  expect(counted(await stuck)).toEqual({ fired: 100 });
});

test("What waits behind timers of its name that are not confirmed is let go of soon, and others are not", async () => {
  const { main, many } = publishing();
  const stuck = many("stuck", 500);
  const slow = many("slow", 60);
  const [isStuck, isSlow] = ["stuck", "slow"].map((of) => () => main.open.filter(({ name }) => name === of));
  let confirmed = 0;
  for (let i = 0; i < 4; i += 1) {
    await vi.advanceTimersByTimeAsync(1_400);
    const open = isSlow?.() ?? [];
    for (const { confirm } of open.slice(confirmed)) confirm();
    confirmed = open.length;
    await vi.advanceTimersByTimeAsync(0);
  }
  for (const { reject } of isStuck?.() ?? []) reject("too-late");
  for (const { confirm } of isSlow?.() ?? []) confirm();
  expect(counted(await stuck)).toEqual({ "too-late": 16, "not-tried": 484 });
  expect(counted(await slow)).toEqual({ fired: 60 });
});

test("A name whose confirm was missing goes aside, one by one, until one is taken there, and no other name with it", async () => {
  const { main, aside, publish, many, sendAside } = publishing();
  await sendAside("stuck");
  expect(aside.publisher.isStarted).toBe(true);
  const again = many("stuck", 3);
  const other = publish("other");
  expect([main.open.map(({ name }) => name), aside.open.map(({ name }) => name)]).toEqual([["other"], ["stuck"]]);
  main.open.pop()?.confirm();
  aside.open.pop()?.reject("too-late");
  expect([await again, await other]).toEqual([["too-late", "not-tried", "not-tried"], "fired"]);
  const taken = publish("stuck");
  aside.open.pop()?.confirm();
  expect(await taken).toBe("fired");
  void many("stuck", 3);
  expect(main.open).toHaveLength(3);
});

test("However many names go aside, so few are open there that it is read", async () => {
  const { aside, publish, sendAside } = publishing();
  const names = Array.from({ length: 100 }, (_, i) => `stuck.${i}`);
  for (const name of names) await sendAside(name);
  const outcomes = names.map((name) => publish(name));
  expect(aside.open).toHaveLength(16);
  for (const { reject } of aside.open) reject("too-late");
  expect(counted(await Promise.all(outcomes))).toEqual({ "too-late": 16, "not-tried": 84 });
});

test("A name that held its place aside until it was too late rests, so that others get one; one that was refused does not", async () => {
  const { aside, publish, sendAside } = publishing();
  const names = Array.from({ length: 17 }, (_, i) => `stuck.${i}`);
  for (const name of names) await sendAside(name);
  /** All try; those with a place are too late. */
  const round = async () => {
    const tries = names.map((name) => publish(name));
    const tried = aside.open.splice(0);
    await vi.advanceTimersByTimeAsync(10_000);
    for (const { reject } of tried) reject("too-late");
    await Promise.all(tries);
    return tried.map(({ name }) => name);
  };
  expect(await round()).toEqual(names.slice(0, 16));
  expect(await round()).toEqual(["stuck.16"]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await round()).toEqual(names.slice(0, 16));
  await sendAside("refused", "nacked");
  for (let i = 0; i < 2; i += 1) {
    const refused = publish("refused");
    aside.open.pop()?.reject("nacked");
    expect(await refused).toBe("refused");
  }
});

test("While the connection aside cannot be made, its names go by the main one after half a minute, one by one", async () => {
  const { main, aside, publish, many, sendAside } = publishing();
  await sendAside("n");
  aside.publisher.isWritable = false;
  const early = publish("n");
  aside.open.pop()?.reject("unavailable");
  expect(await early).toBe("not-tried");
  await vi.advanceTimersByTimeAsync(30_000);
  const late = many("n", 3);
  expect([main.open.length, aside.open.length]).toEqual([1, 0]);
  main.open.pop()?.confirm();
  expect(counted(await late)).toEqual({ fired: 1, "not-tried": 2 });
  void many("n", 3);
  expect(main.open).toHaveLength(3);
});

test("A name that is too late on the main connection, as there is none aside, rests: that one ends with each", async () => {
  const { main, aside, publish, sendAside } = publishing();
  aside.publisher.isWritable = false;
  await sendAside("n");
  void publish("n");
  aside.open.pop()?.reject("unavailable");
  await vi.advanceTimersByTimeAsync(30_000);
  const late = publish("n");
  await vi.advanceTimersByTimeAsync(10_000);
  main.open.pop()?.reject("too-late");
  expect(await late).toBe("too-late");
  expect(await publish("n")).toBe("not-tried");
  await vi.advanceTimersByTimeAsync(300_000);
  void publish("n");
  expect(main.open).toHaveLength(1);
});

test("A name that nobody sends any more leaves no other one resting", async () => {
  const { aside, publish, sendAside } = publishing();
  for (let i = 0; i < 32; i += 1) await sendAside(`once.${i}`);
  await vi.advanceTimersByTimeAsync(120_000);
  await sendAside("n");
  const late = publish("n");
  await vi.advanceTimersByTimeAsync(10_000);
  aside.open.pop()?.reject("too-late");
  expect(await late).toBe("too-late");
  void publish("n");
  expect(aside.open.map(({ name }) => name)).toEqual(["n"]);
});

test("A name whose confirms are slow is not sent aside: what has no room comes again", async () => {
  const { main, aside, many } = publishing();
  const slow = many("slow", 500);
  await vi.advanceTimersByTimeAsync(1_500);
  const again = many("slow", 10);
  expect(counted(await again)).toEqual({ "not-tried": 10 });
  await confirmAll(main.open);
  expect(counted(await slow)).toEqual({ fired: 266, "not-tried": 234 });
  expect(aside.publisher.isStarted).toBe(false);
});

test.each(["lost", "unavailable"] as const)(
  "That the connection is %s says nothing of a name: what waits was not sent, and goes as all do",
  async (code) => {
    const { main, aside, many } = publishing();
    const all = many("n", 20);
    for (const { reject } of main.open) reject(code);
    expect(counted(await all)).toEqual(code === "lost" ? { unknown: 16, "not-sent": 4 } : { "not-sent": 20 });
    void many("n", 1);
    expect([main.open.length, aside.publisher.isStarted]).toEqual([17, false]);
  },
);

test("While the broker blocks, nothing waits to be sent when it no longer should be, and no name has a fault", async () => {
  const { main, aside, many } = publishing();
  const before = many("n", 270);
  main.block();
  expect(counted(await many("n", 20))).toEqual({ "not-sent": 20 });
  expect(counted(await many("other", 20))).toEqual({ "not-sent": 20 });
  main.publisher.isWritable = true;
  await confirmAll(main.open); // what was on its way
  expect(counted(await before)).toEqual({ fired: 16, "not-sent": 254 });
  const after = many("n", 10);
  await confirmAll(main.open);
  expect(counted(await after)).toEqual({ fired: 10 });
  expect(aside.publisher.isStarted).toBe(false);
});

test("While the broker blocks the connection aside, what waits there is let go of, too", async () => {
  const { main, aside, publish, sendAside } = publishing();
  await sendAside("n", "nacked");
  aside.block();
  expect(await publish("n")).toBe("not-tried");
  aside.publisher.isWritable = true;
  const again = publish("n");
  aside.open.pop()?.confirm();
  expect(await again).toBe("fired");
  expect(main.open).toEqual([]);
});

test("Where nobody is bound each is told so, and none goes aside", async () => {
  const { main, many } = publishing();
  const all = many("unheard", 40);
  for (let i = 0; i < 40; i += 1) {
    main.open[i]?.reject("returned");
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(counted(await all)).toEqual({ returned: 40 });
});

test("A connection that refuses what another takes is given up for a new one, and seldom: the queue may be full but for a moment", async () => {
  const { main, aside, publish, many, sendAside } = publishing();
  /** One is taken aside, and the next refused where all go. */
  const flip = async () => {
    const taken = publish("n");
    aside.open.pop()?.confirm();
    await taken;
    await sendAside("n", "nacked");
  };
  await sendAside("n", "nacked");
  expect(main.publisher.renewals).toBe(0);
  const renewals: number[] = [];
  for (const afterMs of [0, 29_000, 1_001, 30_000, 30_001]) {
    await vi.advanceTimersByTimeAsync(afterMs);
    await flip();
    renewals.push(main.publisher.renewals);
  }
  expect(renewals).toEqual([1, 1, 2, 2, 3]);
  await vi.advanceTimersByTimeAsync(3_600_000);
  const taken = publish("n");
  aside.open.pop()?.confirm();
  await taken;
  const refused = many("n", 20);
  for (const { reject } of main.open.splice(0)) reject("nacked");
  expect(counted(await refused)).toEqual({ refused: 16, "not-tried": 4 });
  expect(main.publisher.renewals).toBe(4);
  const again = publish("n");
  aside.open.pop()?.confirm();
  await again;
  const back = publish("n");
  main.open.pop()?.confirm();
  await back;
  await vi.advanceTimersByTimeAsync(3_600_000);
  await sendAside("n", "nacked");
  expect(main.publisher.renewals).toBe(4);
});
