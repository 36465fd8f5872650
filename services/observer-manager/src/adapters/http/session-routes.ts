import { MAX_SESSION_TOKEN_LENGTH, type Role, SessionView, SignIn } from "@unacked/contracts";
import type { Identity } from "../../domain/actor.ts";
import type { Refusal } from "../../flows/manager-api.ts";
import { answer, emptyAnswer } from "./call-description.ts";
import { SESSION as SESSION_EXAMPLE } from "./examples/session-examples.ts";
import { GATE_PROBLEMS } from "./gate-problems.ts";
import { BODY_PROBLEMS, defineRoute, type Route } from "./route.ts";
import { endedSessionCookie, SESSION_S, sessionCookie } from "./session-cookie.ts";

const SESSION = "/api/v1/session";

/** Tells whose a token is. */
export interface SignInDesk {
  judge(token: string, address: string): Promise<Identity | Refusal>;
}

/** Who one is, for whoever asks; and a session for the page, whose EventSource can send no header. */
export function sessionRoutes(desk: SignInDesk, needs: () => Record<string, Role>): Route[] {
  return [show(needs), signIn(desk, needs), signOut()];
}

const show = (needs: () => Record<string, Role>) =>
  defineRoute({
    ...{ method: "get", path: SESSION, tag: "Session", operationId: "getSession" },
    summary: "Who the caller is, and what needs which role",
    access: "viewer",
    answers: { 200: answer("The caller", SessionView, { "By a listed token": SESSION_EXAMPLE }) },
    problems: [],
    handle: async ({ by }) => ({ status: 200, body: viewOf(by, needs()) }),
  });

const signIn = (desk: SignInDesk, needs: () => Record<string, Role>) =>
  defineRoute({
    ...{ method: "post", path: SESSION, tag: "Session", operationId: "signIn", summary: "Start the page's session" },
    description:
      "The token goes into a cookie that no script can read (`HttpOnly`) and no other site can make a browser send " +
      "(`SameSite=Strict`), for 12 hours at most. A manager that asks nobody who they are sets none.",
    access: "open",
    body: SignIn,
    bodyExamples: { "A listed token": { token: "unacked_1jTf0bYzJmZqW5l8rNxg2cQpK7uVd3oEaHsR9iLwXyU" } },
    answers: { 200: answer("Who signed in; the cookie is set", SessionView, { "By a listed token": SESSION_EXAMPLE }) },
    problems: [...BODY_PROBLEMS, ...GATE_PROBLEMS, "cross-origin"],
    async handle({ body: { token }, by, isSecure }) {
      const identity = await desk.judge(token, by.address);
      if ("kind" in identity) return identity;
      const body = viewOf(identity, needs());
      if (identity.authentication === "anonymous") return { status: 200, body };
      if (token.length > MAX_SESSION_TOKEN_LENGTH) return TOO_LONG;
      return { status: 200, body, headers: { "Set-Cookie": sessionCookie(token, { isSecure, maxAgeS: SESSION_S }) } };
    },
  });

const TOO_LONG: Refusal = {
  kind: "problem",
  code: "invalid-body",
  detail: "The token is genuine, but longer than a browser keeps in a cookie",
  errors: [{ pointer: "/token", message: `at most ${MAX_SESSION_TOKEN_LENGTH} characters make a session` }],
};

const signOut = () =>
  defineRoute({
    ...{ method: "delete", path: SESSION, tag: "Session", operationId: "signOut", summary: "End the page's session" },
    access: "open",
    answers: { 204: emptyAnswer("The cookie is gone") },
    problems: ["cross-origin"],
    handle: async ({ isSecure }) => ({ status: 204, headers: { "Set-Cookie": endedSessionCookie(isSecure) } }),
  });

function viewOf({ name, role, authentication, expiresAtMs }: Identity, needs: Record<string, Role>): SessionView {
  const expiresAt = expiresAtMs === null ? null : new Date(expiresAtMs).toISOString();
  return { name, role, authentication, expiresAt, needs };
}
