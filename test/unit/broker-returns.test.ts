import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Returns } from "../../libs/broker/src/returns.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** A channel on which so many were delivered, and what it was told to give back: delivery tags, and `≤` for all up to one. */
function recorded(delivered: number) {
  const given: (number | string)[] = [];
  const losing = new AbortController();
  let isClosing = false;
  const nack = ({ fields }: { fields: { deliveryTag: number } }, multiple: boolean, requeue: boolean) => {
    expect(requeue).toBe(true);
    if (isClosing) throw new Error("Channel closing");
    given.push(multiple ? `≤${fields.deliveryTag}` : fields.deliveryTag);
  };
  const returns = new Returns({ nack } as never, losing.signal);
  for (const tag of range(1, delivered)) returns.delivered(tag);
  const add = (...tags: number[]) => {
    for (const deliveryTag of tags) returns.add({ fields: { deliveryTag } } as never);
  };
  const ack = (...tags: number[]) => {
    for (const tag of tags) returns.acked(tag);
  };
  const closes = () => {
    isClosing = true;
  };
  return { given, add, ack, lose: () => losing.abort(), closes };
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);

test("few go back at once, as they come, second by second", () => {
  const { given, add } = recorded(500);
  add(...range(1, 100));
  vi.advanceTimersByTime(1_000);
  add(...range(101, 200));
  expect(given).toEqual(range(1, 200));
});

test("more are held until no more have come for a tenth of a second, and go together", () => {
  const { given, add } = recorded(180);
  add(...range(1, 150));
  vi.advanceTimersByTime(60);
  add(...range(151, 180));
  vi.advanceTimersByTime(60);
  expect(given).toEqual(range(1, 100));
  vi.advanceTimersByTime(60);
  expect(given.slice(100)).toEqual(["≤180"]);
});

test("never goes with them what still runs: those behind it go one by one; what was acked is in nobody's way", () => {
  const { given, add, ack } = recorded(400);
  add(...range(301, 400)); // the few
  ack(3, 4);
  add(...range(5, 149), 2, 1, ...range(151, 160)); // 150 runs on
  vi.advanceTimersByTime(100);
  expect(given.slice(100)).toEqual(["≤149", ...range(151, 160)]);
});

test("while more and more come, those that are held go after a second", () => {
  const { given, add } = recorded(400);
  add(...range(1, 100));
  for (const tag of range(101, 250)) {
    add(tag);
    vi.advanceTimersByTime(10);
  }
  expect(given[100]).toMatch(/^≤(19|20)\d$/);
  vi.advanceTimersByTime(1_000);
  expect(given.at(-1), "few come by then").toBe(250);
});

test("what is held when the session is lost is not sent: the broker has taken it back by itself", () => {
  const { given, add, lose } = recorded(200);
  add(...range(1, 200));
  lose();
  vi.advanceTimersByTime(5_000);
  expect(given).toEqual(range(1, 100));
});

test("a channel that is closing while some are held is left to close: the broker takes them back, and nobody is told of an error", () => {
  const { given, add, closes } = recorded(300);
  add(...range(1, 200));
  closes();
  vi.advanceTimersByTime(5_000);
  expect(given).toEqual(range(1, 100));
  expect(() => add(201), "who gives back by himself is told").toThrow("Channel closing");
});
