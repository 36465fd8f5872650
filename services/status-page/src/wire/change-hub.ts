import type { EventBlock } from "@unacked/client";
import { ChangeStream } from "./change-stream.ts";

/** A tab says that somebody looks at it, or that it has no more use for changes. */
export type TabSays = "here" | "gone";

export type HubSays =
  /** The answer to each `here`. */
  | { kind: "heard" }
  | { kind: "events"; events: EventBlock[] }
  /** From here on every change comes. `missed`: some did not; read the lists again. */
  | { kind: "ready"; missed: boolean }
  | { kind: "broken"; lastHeardMs: number }
  | { kind: "unauthorized" }
  /** Nothing more comes until the tab says `here` again. */
  | { kind: "resting" };

interface Tab {
  say(message: HubSays): void;
  /** By performance.now(); it gets nothing from then on, unless it says `here` again. */
  untilMs: number;
  isFollowing: boolean;
  missed: boolean;
}

/** A tab that was not looked at for so long, or is gone without a word, gets nothing more. */
const LOOKED_AT_FOR_MS = 60_000;
const LOOK_EVERY_MS = 5_000;

/**
 * One stream of changes for all tabs of a browser, which has six connections to a manager and no more. Comes in: what the stream
 * brings, and which tabs are looked at. Guarantees: there is a stream for as long as any tab is; each that is hears of every
 * change, or is told that it missed some. Where it was survives a rest: the next stream goes on from there.
 */
export class ChangeHub {
  readonly #tabs = new Set<Tab>();
  #stream: ChangeStream | undefined;
  #lastEventId: string | undefined;
  #link: "opening" | "ready" | "broken" = "opening";
  #lastHeardMs = Date.now();
  #clock: ReturnType<typeof setInterval> | undefined;

  /** @returns takes what the tab says; it is served until that is `gone` */
  add(say: (message: HubSays) => void): (said: TabSays) => void {
    const tab: Tab = { say, untilMs: 0, isFollowing: false, missed: true };
    this.#tabs.add(tab);
    return (said) => this.#hear(tab, said);
  }

  #hear(tab: Tab, said: TabSays): void {
    switch (said) {
      case "here":
        tab.untilMs = performance.now() + LOOKED_AT_FOR_MS;
        tab.say({ kind: "heard" });
        if (!tab.isFollowing) this.#join(tab);
        return;
      case "gone":
        this.#tabs.delete(tab);
        return this.#look();
      default:
        said satisfies never;
    }
  }

  #join(tab: Tab): void {
    tab.isFollowing = true;
    this.#clock ??= setInterval(() => this.#look(), LOOK_EVERY_MS);
    if (this.#stream === undefined) this.#open();
    else if (this.#link === "ready") this.#tellReady(tab);
    else if (this.#link === "broken") tab.say({ kind: "broken", lastHeardMs: this.#lastHeardMs });
  }

  /** Lets tabs rest that nobody looks at, and the stream, when that is all of them. */
  #look(): void {
    const nowMs = performance.now();
    for (const tab of this.#following()) {
      if (tab.untilMs > nowMs) continue;
      tab.isFollowing = false;
      tab.say({ kind: "resting" });
    }
    if (this.#following().length > 0) return;
    clearInterval(this.#clock);
    this.#clock = undefined;
    this.#lastEventId = this.#stream?.lastEventId;
    this.#stream?.close();
    this.#stream = undefined;
  }

  #open(): void {
    this.#link = "opening";
    const sink = {
      events: (events: EventBlock[]) => this.#take(events),
      broken: (reason: "lost" | "unauthorized") => this.#broke(reason),
    };
    this.#stream = new ChangeStream(sink, this.#lastEventId);
    this.#lastHeardMs = Date.now();
  }

  #take(events: EventBlock[]): void {
    this.#lastHeardMs = Date.now();
    for (const tab of this.#tabs) {
      if (tab.isFollowing) tab.say({ kind: "events", events });
      else tab.missed = true;
    }
    for (const { event } of events) {
      if (event === "resync") for (const tab of this.#tabs) tab.missed = true;
      if (event === "ready") this.#link = "ready";
      // A stream that fell behind says `resync`, but `ready` no second time.
      const isNews = event === "ready" || (event === "resync" && this.#link === "ready");
      if (isNews) for (const tab of this.#following()) this.#tellReady(tab);
    }
  }

  #tellReady(tab: Tab): void {
    tab.say({ kind: "ready", missed: tab.missed });
    tab.missed = false;
  }

  #broke(reason: "lost" | "unauthorized"): void {
    const wasBroken = this.#link === "broken";
    this.#link = "broken";
    for (const tab of this.#following()) {
      if (reason === "unauthorized") tab.say({ kind: "unauthorized" });
      if (!wasBroken) tab.say({ kind: "broken", lastHeardMs: this.#lastHeardMs });
    }
  }

  #following(): Tab[] {
    return [...this.#tabs].filter(({ isFollowing }) => isFollowing);
  }
}
