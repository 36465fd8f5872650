import type { RecordedTicker } from "./recording.ts";

/** `number` counts the replays from 1; 0: none began yet. */
export type ReplayState = {
  readonly state: "waiting" | "running" | "ended";
  readonly number: number;
  readonly sent: number;
  readonly total: number;
};

export type Replay = {
  /** Begins from the first message; one that is running is broken off. `speed`: from now on so many times real speed. */
  start(speed?: number): void;
  stop(): void;
  state(): ReplayState;
};

/**
 * Sends the messages of a recording with the pauses they came with, `speed` times as fast. Late by a busy moment, it
 * sends what is due at once, so that order and total time stay right. `onEnd` is not called for one that is broken off.
 */
export function createReplay(
  tickers: readonly RecordedTicker[],
  initialSpeed: number,
  send: (ticker: RecordedTicker) => void,
  onEnd: () => void,
): Replay {
  let speed = initialSpeed;
  let timer: NodeJS.Timeout | undefined;
  let number = 0;
  let sent = 0;
  let state: ReplayState["state"] = "waiting";
  let startedAtMs = 0;

  const sendDue = () => {
    const playedMs = (performance.now() - startedAtMs) * speed;
    for (let next = tickers[sent]; next !== undefined && next.atMs <= playedMs; next = tickers[sent]) {
      sent++;
      send(next);
    }
    const next = tickers[sent];
    if (next !== undefined) {
      timer = setTimeout(sendDue, Math.max(1, (next.atMs - playedMs) / speed));
      return;
    }
    state = "ended";
    onEnd();
  };

  return {
    start(newSpeed = speed) {
      clearTimeout(timer);
      speed = newSpeed;
      number++;
      sent = 0;
      state = "running";
      startedAtMs = performance.now();
      timer = setTimeout(sendDue, 0);
    },
    stop: () => clearTimeout(timer),
    state: () => ({ state, number, sent, total: tickers.length }),
  };
}
