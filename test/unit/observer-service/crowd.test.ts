import { beforeEach, describe, expect, test } from "vitest";
import { Crowd } from "../../../services/observer-service/src/crowd.ts";

let nowMs = 0;
let crowd: Crowd;

beforeEach(() => {
  nowMs = 1_000;
  crowd = new Crowd(() => nowMs);
});

const starts = (count: number) => {
  for (let i = 0; i < count; i += 1) crowd.note(false);
};

describe("events wait for a crowd", () => {
  test("until it is through", () => {
    starts(500);
    expect(crowd.isComing(500)).toBe(true);
    nowMs += 19;
    expect(crowd.isComing(500)).toBe(true);
    nowMs += 1;
    expect(crowd.isComing(500)).toBe(false);
  });

  test("a quarter of a second, however long it goes on", () => {
    for (; nowMs < 1_250; nowMs += 10) {
      starts(100);
      expect(crowd.isComing(500)).toBe(true);
    }
    starts(100);
    expect(crowd.isComing(2_600)).toBe(false);
  });

  test("but not when they are few", () => {
    starts(20);
    expect(crowd.isComing(20)).toBe(false);
  });

  test("and not when a message waits for the confirm of one", () => {
    starts(500);
    crowd.note(true);
    expect(crowd.isComing(501)).toBe(false);
    crowd.take();
    starts(500);
    expect(crowd.isComing(500)).toBe(true);
  });
});
