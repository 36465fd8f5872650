import type { Authentication, Role } from "@unacked/contracts";

/** Who somebody is. */
export interface Identity {
  name: string;
  role: Role;
  authentication: Authentication;
  /** When the token itself says that it ends; null: it does not say. */
  expiresAtMs: number | null;
}

/** Somebody who asks for something. */
export interface Actor extends Identity {
  /** Where the request came from. */
  address: string;
  requestId: string;
  /** The place of this request in its trace (W3C traceparent, and tracestate behind a blank), where there is one. */
  traceContext?: string | undefined;
}
