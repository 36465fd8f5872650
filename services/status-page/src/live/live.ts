import { type Link, type LinkEvent, nextLink } from "../store/link.ts";
import { toRow } from "../store/observer-row.ts";
import { followChanges } from "../wire/change-source.ts";
import { LiveObservers } from "./live-observers.ts";
import { LiveServices } from "./live-services.ts";
import { LiveStats } from "./live-stats.ts";
import { Signal } from "./signal.ts";
import { Unread } from "./unread.ts";

/** Everything on the page that moves by itself: one stream of events, and the figures. One for the whole page. */
export class Live {
  readonly observers = new LiveObservers();
  readonly services = new LiveServices();
  readonly stats = new LiveStats(document);
  readonly unread = new Unread();
  readonly linkChanged = new Signal();
  link: Link = { phase: "connecting" };
  /** How often the stream came back after a break or a rest: what was asked for meanwhile is asked for again. */
  returns = 0;

  readonly #identity: string;
  #hasBeenLive = false;
  #unfollow: () => void = () => undefined;
  #isStopped = false;

  /** @param identity whom the manager takes the page for */
  constructor(identity: string) {
    this.#identity = identity;
  }

  /** The stream is opened first and the lists are read once it is live: nothing can fall between. */
  start(): void {
    this.#unfollow = followChanges(this.#identity, {
      observer: (view) => this.observers.take(toRow(view)),
      service: (view) => this.services.take(view),
      ready: (missed) => {
        if (missed) this.#reload();
        this.#link({ kind: "ready" });
      },
      broken: (lastHeardMs) => this.#link({ kind: "broken", lastHeardMs }),
      resting: () => this.#link({ kind: "resting" }),
    });
    this.observers.start();
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

  #link(event: LinkEvent): void {
    const link = nextLink(this.link, event);
    if (link === this.link) return;
    if (link.phase === "live") {
      if (this.#hasBeenLive) this.returns += 1;
      // Where nothing was lost yet, what is being read is on its way.
      if (this.#hasBeenLive || this.link.phase === "lost") this.stats.retry();
      this.#hasBeenLive = true;
    }
    this.link = link;
    this.linkChanged.tell();
  }
}
