import type { SessionView } from "@unacked/contracts";
import { createContext, useContext } from "react";
import { whyNot } from "../store/permission.ts";

/** Who is signed in, and how they sign out. */
export const SessionContext = createContext<{ who: SessionView; signOut: () => Promise<void> } | null>(null);

export function useSession() {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("useSession stands outside of SessionContext");
  return session;
}

/** Why the one who looks may not make this call (its operationId); null: they may. */
export const useWhyNot = (call: string): string | null => whyNot(useSession().who, call);
