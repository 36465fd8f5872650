import type { Authentication, Role } from "@unacked/contracts";
import { type TaskShare, WHOLE } from "./task-share.ts";

/** Who somebody is. */
export interface Identity {
  name: string;
  role: Role;
  authentication: Authentication;
  /** When the token itself says that it ends; null: it does not say. */
  expiresAtMs: number | null;
  /** Which tasks they may take, if they may take any. */
  share: TaskShare;
}

/** Somebody who asks for something. */
export interface Actor extends Identity {
  /** Where the request came from. */
  address: string;
  requestId: string;
  /** The place of this request in its trace (W3C traceparent, and tracestate behind a blank), where there is one. */
  traceContext?: string | undefined;
}

/** Somebody who asked for something, or the service whose report made the manager act (`broker`), or a schedule. */
export type AuditedActor = Omit<Actor, "authentication" | "expiresAtMs" | "share"> & {
  authentication: Authentication | "broker" | "schedule";
};

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

/** Without authentication anybody who reaches the manager may do everything; so it lets itself be reached from its own host only. */
export const ANONYMOUS: Identity = {
  name: "anonymous",
  role: "admin",
  authentication: "anonymous",
  expiresAtMs: null,
  share: WHOLE,
};
