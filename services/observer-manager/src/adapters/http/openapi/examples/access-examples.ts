import type { AuditPage, SessionView } from "@unacked/contracts";
import { DELETED } from "./observer-examples.ts";

/** Only two of the roles that calls need are shown. */
export const SESSION = {
  name: "anna",
  role: "operator",
  authentication: "token",
  expiresAt: null,
  needs: { createObserver: "operator", getStats: "viewer" },
} satisfies SessionView;

export const AUDIT_PAGE = {
  items: [
    {
      id: "01936f60-1b2c-7a3d-8e4f-5a6b7c8d9e0f",
      at: "2026-11-20T09:44:12.300Z",
      actor: { name: "anna", role: "operator", authentication: "oidc", address: "203.0.113.7" },
      action: "observer.stop",
      deed: "observer.stop",
      count: 197,
      targets: [{ kind: "observer", id: DELETED.id, name: DELETED.name }],
      details: { filter: { type: "http-poll" } },
      requestId: "5f0c8f5e-9d0b-4a3e-8a57-3c1c7b1f2d90",
    },
  ],
  total: 1,
  isTotalExact: true,
  nextCursor: null,
} satisfies AuditPage;
