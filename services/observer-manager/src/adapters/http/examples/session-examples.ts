import type { SessionView } from "@unacked/contracts";

/** Cut: of the roles that calls need, two are shown. */
export const SESSION = {
  name: "anna",
  role: "operator",
  authentication: "token",
  expiresAt: null,
  needs: { createObserver: "operator", getStats: "viewer" },
} satisfies SessionView;
