import { z } from "zod";

/**
 * The lowest first. A taker works on tasks outside the services, and does nothing else; a viewer reads; an operator may do what both may, and also
 * creates, stops, restarts, pauses and retries; an admin also removes what others may need (errors) and reads who did what.
 */
export const ROLES = ["taker", "viewer", "operator", "admin"] as const;
export const Role = z.enum(ROLES);
export type Role = z.infer<typeof Role>;

/** What a call requires of its caller: a role, or nothing (`open`: also for unknown callers). */
export type Access = Role | "open";

/** Who looks must not be able to take work away from others, and whose program works outside needs to see nothing. */
const REACHED: Readonly<Record<Role, readonly Role[]>> = {
  taker: ["taker"],
  viewer: ["viewer"],
  operator: ["taker", "viewer", "operator"],
  admin: ROLES,
};

export const roleReaches = (role: Role, needed: Access): boolean => needed === "open" || REACHED[role].includes(needed);

/** How a caller was authenticated. `anonymous` means that the manager asks nobody. */
export const AUTHENTICATIONS = ["token", "oidc", "anonymous"] as const;
export const Authentication = z.enum(AUTHENTICATIONS);
export type Authentication = z.infer<typeof Authentication>;

/** More than a browser keeps in one cookie (4096 bytes with its name and attributes) cannot become a session. */
export const MAX_SESSION_TOKEN_LENGTH = 3_800;

/** POST /session: what the page signs in with. */
export const SignIn = z
  .strictObject({ token: z.string().min(1).max(16_384).describe("a bearer token of AUTH_TOKENS, or a JWT") })
  .meta({ id: "SignIn" });
export type SignIn = z.infer<typeof SignIn>;

/** GET /session: who the caller is, and the role that each act requires. */
export const SessionView = z
  .object({
    name: z.string(),
    role: Role,
    authentication: Authentication,
    expiresAt: z.iso.datetime().nullable().describe("when the token itself expires; null: it does not say"),
    needs: z
      .record(z.string(), Role)
      .describe("by operationId: the role that the call needs. A call that is not in it needs none"),
  })
  .meta({ id: "Session" });
export type SessionView = z.infer<typeof SessionView>;
