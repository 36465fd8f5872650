import type { SessionView } from "@unacked/contracts";
import { BASE_PATH } from "../wire/base-path.ts";
import { CallError, onUnauthorized } from "../wire/call.ts";
import { readSession, signIn, signOut } from "../wire/session.ts";
import { Signal } from "./signal.ts";

/** `out`: the manager wants to know who we are. `ended`: it knew, until now. */
export type SessionState =
  | { phase: "asking"; failure: CallError | null }
  | { phase: "out"; ended: boolean }
  | { phase: "in"; who: SessionView };

const AGAIN_MS = 2_000;
/** By which the tabs of a browser, which share the cookie, tell each other that somebody came or went. */
const TABS = `unacked-session ${BASE_PATH}`;

/** Who looks at the page. The token itself is never kept here: it is in a cookie that only the browser and the manager see. */
export class Session {
  readonly changed = new Signal();
  state: SessionState = { phase: "asking", failure: null };
  readonly #tabs = new BroadcastChannel(TABS);

  /** Asks the manager until it answers: who we are, or that it wants to know; and again when another tab signs in or out. */
  start(): void {
    this.#tabs.addEventListener("message", () => this.#askAgain());
    window.addEventListener("pageshow", ({ persisted }) => void (persisted && this.#askAgain())); // it heard nothing meanwhile
    onUnauthorized(() => {
      if (this.state.phase === "in") this.#become({ phase: "out", ended: true });
    });
    void this.#ask();
  }

  /** Rejects with CallError; the state is then as it was. */
  async signIn(token: string): Promise<void> {
    this.#become({ phase: "in", who: await signIn(token) });
    this.#tabs.postMessage("changed");
  }

  /** Rejects with CallError when the manager cannot be told: then the cookie is still there. */
  async signOut(): Promise<void> {
    await signOut();
    this.#become({ phase: "out", ended: false });
    this.#tabs.postMessage("changed");
  }

  #askAgain(): void {
    if (this.state.phase !== "asking") void this.#ask();
  }

  async #ask(): Promise<void> {
    try {
      this.#become({ phase: "in", who: await readSession() });
    } catch (error) {
      if (error instanceof CallError && (error.code === "unauthorized" || error.code === "forbidden"))
        return this.#becomeUnknown();
      if (this.state.phase !== "asking") return; // it goes on as it was; the next call tells
      this.#become({ phase: "asking", failure: error instanceof CallError ? error : null });
      setTimeout(() => void this.#ask(), AGAIN_MS);
    }
  }

  #becomeUnknown(): void {
    if (this.state.phase === "asking") this.#become({ phase: "out", ended: false }); // else it is told already
  }

  #become(state: SessionState): void {
    this.state = state;
    this.changed.tell();
  }
}
