import { type Link, nextLink } from "../store/link.ts";
import { toRow } from "../store/observer-row.ts";
import { followChanges } from "../wire/change-source.ts";
import { LiveObservers } from "./live-observers.ts";
import { LiveServices } from "./live-services.ts";
import { LiveStats } from "./live-stats.ts";
import { Signal } from "./signal.ts";

/** Everything on the page that moves by itself: one stream of events, and the figures. One for the whole page. */
export class Live {
  readonly observers = new LiveObservers();
  readonly services = new LiveServices();
  readonly stats = new LiveStats();
  readonly linkChanged = new Signal();
  link: Link = { phase: "connecting" };
  /** How often the stream was lost and came back: what was asked for meanwhile is asked for again. */
  returns = 0;

  #unfollow: () => void = () => undefined;
  #isStopped = false;

  /** The stream is opened first and the lists are read once it is live: nothing can fall between. */
  start(): void {
    this.#unfollow = followChanges({
      observer: (view) => this.observers.take(toRow(view)),
      service: (view) => this.services.take(view),
      ready: (missed) => {
        this.#link("ready");
        if (missed) this.#reload();
      },
      broken: () => this.#link("broken"),
    });
    this.stats.start();
  }

  /** Asks for nothing more. It cannot be started again. */
  stop(): void {
    this.#isStopped = true;
    this.#unfollow();
    this.stats.stop();
    this.observers.stop();
  }

  #reload(): void {
    this.observers.reload();
    this.#reloadServices();
  }

  #reloadServices(): void {
    if (this.#isStopped) return;
    this.services.reload().catch(() => setTimeout(() => this.#reloadServices(), 2_000));
  }

  #link(event: "ready" | "broken"): void {
    const link = nextLink(this.link, event, Date.now());
    if (link === this.link) return;
    if (this.link.phase === "lost" && link.phase === "live") this.returns += 1;
    this.link = link;
    this.linkChanged.tell();
  }
}
