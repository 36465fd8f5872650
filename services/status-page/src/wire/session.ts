import type { SessionView } from "@unacked/contracts";
import { call } from "./call.ts";

/** Rejects with CallError: of code `unauthorized` when nobody is signed in. */
export const readSession = (): Promise<SessionView> => call("getSession", {});

/** The token goes into a cookie that this page cannot read. Rejects with CallError. */
export const signIn = (token: string): Promise<SessionView> => call("signIn", { body: { token } });

export const signOut = (): Promise<void> => call("signOut", {});
