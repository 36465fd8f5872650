import { MAX_SESSION_TOKEN_LENGTH, type Role, roleReaches, SessionView } from "@unacked/contracts";
import type { Identity } from "../../../../domain/access/identity.ts";
import type { Refusal } from "../../../../operations/refusal.ts";
import { SESSION as SESSION_EXAMPLE } from "../../openapi/examples/access-examples.ts";
import { defineRoute, type Route } from "../route.ts";
import { endedSessionCookie, SESSION_S, sessionCookie } from "./credentials.ts";

/** Tells whose a token is. */
export interface SignInDesk {
  judge(token: string, address: string): Promise<Identity | Refusal>;
}

/** Calls that tell callers who they are, and give a session to the page, whose EventSource can send no header. */
export function sessionRoutes(desk: SignInDesk, needs: () => Record<string, Role>): Route[] {
  return [show(needs), signIn(desk, needs), signOut()];
}

const show = (needs: () => Record<string, Role>) =>
  defineRoute("getSession")({
    tag: "Session",
    summary: "Who the caller is, and what needs which role",
    answers: { 200: { description: "The caller", examples: { "By a listed token": SESSION_EXAMPLE } } },
    handle: async ({ by }) => ({ status: 200, body: viewOf(by, needs()) }),
  });

const signIn = (desk: SignInDesk, needs: () => Record<string, Role>) =>
  defineRoute("signIn")({
    tag: "Session",
    summary: "Start the page's session",
    description:
      "The token goes into a cookie that no script can read (`HttpOnly`) and no other site can make a browser send " +
      "(`SameSite=Strict`), for 12 hours at most. A manager that asks nobody who they are sets none.",
    bodyExamples: { "A listed token": { token: "unacked_1jTf0bYzJmZqW5l8rNxg2cQpK7uVd3oEaHsR9iLwXyU" } },
    answers: {
      200: { description: "Who signed in; the cookie is set", examples: { "By a listed token": SESSION_EXAMPLE } },
    },
    async handle({ body: { token }, by, isSecure, basePath }) {
      const identity = await desk.judge(token, by.address);
      if ("kind" in identity) return identity;
      const body = viewOf(identity, needs());
      if (!roleReaches(identity.role, "viewer")) return seesNothing(identity);
      if (identity.authentication === "anonymous") return { status: 200, body };
      if (token.length > MAX_SESSION_TOKEN_LENGTH) return TOO_LONG;
      const cookie = sessionCookie(token, { isSecure, basePath, maxAgeS: SESSION_S });
      return { status: 200, body, headers: { "Set-Cookie": cookie } };
    },
  });

const seesNothing = ({ name, role }: Identity): Refusal => ({
  kind: "problem",
  code: "forbidden",
  detail: `The page needs the role viewer, and ${name} is ${role}`,
  neededRole: "viewer",
});

const TOO_LONG: Refusal = {
  kind: "problem",
  code: "invalid-body",
  detail: "The token is valid, but too long for a browser's cookie",
  errors: [{ pointer: "/token", message: `at most ${MAX_SESSION_TOKEN_LENGTH} characters are allowed for a session` }],
};

const signOut = () =>
  defineRoute("signOut")({
    tag: "Session",
    summary: "End the page's session",
    answers: { 204: { description: "The cookie is gone" } },
    handle: async (request) => ({ status: 204, headers: { "Set-Cookie": endedSessionCookie(request) } }),
  });

function viewOf({ name, role, authentication, expiresAtMs }: Identity, needs: Record<string, Role>): SessionView {
  const expiresAt = expiresAtMs === null ? null : new Date(expiresAtMs).toISOString();
  return { name, role, authentication, expiresAt, needs };
}
