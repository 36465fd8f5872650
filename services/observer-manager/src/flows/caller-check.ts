import type { Identity } from "../domain/actor.ts";

/** What became of a token. `why` is for its owner, and holds nothing of it. */
export type Verdict =
  | { kind: "known"; identity: Identity }
  | { kind: "refused"; why: string }
  /** It is genuine, but gives no role here. */
  | { kind: "no-role"; name: string; why: string }
  /** It cannot be told now. */
  | { kind: "unavailable" };

/** Tells who a token's bearer is. Never rejects. */
export interface CallerCheck {
  /** False: nobody is asked, and everybody is ANONYMOUS. */
  readonly isConfigured: boolean;
  identify(token: string): Promise<Verdict>;
}

/** Without authentication whoever reaches the manager may do everything; so it lets itself be reached from its own host only. */
export const ANONYMOUS: Identity = { name: "anonymous", role: "admin", authentication: "anonymous", expiresAtMs: null };
