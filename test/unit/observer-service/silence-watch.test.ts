import { describe, expect, it } from "vitest";
import { SilenceWatch, type Watched } from "../../../services/observer-service/src/wire/silence-watch.ts";

class Handler implements Watched {
  readonly limits;
  readonly said: string[] = [];
  beats = 0;
  waits = false;

  constructor(limits: Watched["limits"]) {
    this.limits = limits;
  }

  takeBeat(): boolean {
    const had = this.beats > 0;
    this.beats = 0;
    return had;
  }

  onQuiet(forMs: number): void {
    this.said.push(`quiet for ${Math.round(forMs)}`);
  }

  onHeard(): void {
    this.said.push("heard");
  }

  onTooLong(forMs: number): void {
    this.said.push(`too long: ${Math.round(forMs)}`);
  }
}

function watched(limits: Watched["limits"]) {
  const watch = new SilenceWatch();
  const handler = new Handler(limits);
  watch.add(handler);
  let nowMs = Math.ceil(performance.now()); // whole: a quarter of a second is added to it without rounding
  const passMs = (ms: number, stepMs = 250) => {
    for (const end = nowMs + ms; nowMs < end; ) watch.look((nowMs += stepMs));
  };
  handler.beats += 1; // it counts from here
  watch.look(nowMs);
  return { watch, handler, passMs };
}

describe("the watch for silence", () => {
  it("tells once who is quiet, once that it is heard, and once that it was too long", () => {
    const { watch, handler, passMs } = watched({ warnAfterMs: 1_000, restartAfterMs: 3_000 });
    passMs(2_000);
    expect(handler.said).toEqual(["quiet for 1000"]);
    handler.beats += 1;
    passMs(750);
    expect(handler.said).toEqual(["quiet for 1000", "heard"]);
    passMs(10_000);
    expect(handler.said.slice(2)).toEqual(["quiet for 1000", "too long: 3000"]);
    watch.remove(handler);
  });

  it("says nothing of one that has a beat in time, however long it lives", () => {
    const { handler, passMs } = watched({ warnAfterMs: 1_000 });
    for (let i = 0; i < 100; i += 1) {
      handler.beats += 1;
      passMs(750);
    }
    expect(handler.said).toEqual([]);
  });

  it("does not count the time in which an emit waits, or the broker takes nothing", () => {
    const { watch, handler, passMs } = watched({ warnAfterMs: 1_000, restartAfterMs: 1_000 });
    passMs(500);
    handler.waits = true;
    passMs(120_000);
    handler.waits = false;
    watch.hold(true);
    passMs(120_000);
    watch.hold(false);
    passMs(250);
    expect(handler.said).toEqual([]);
    passMs(250);
    expect(handler.said).toEqual(["too long: 1000"]);
  });

  it("blames nobody for a machine that was paused: a look counts for a quarter of a second at most", () => {
    const { handler, passMs } = watched({ warnAfterMs: 1_000, restartAfterMs: 2_000 });
    passMs(250);
    passMs(3_600_000, 3_600_000);
    expect(handler.said).toEqual([]);
    handler.beats += 1; // what stood in its socket meanwhile
    passMs(750);
    expect(handler.said).toEqual([]);
  });
});
