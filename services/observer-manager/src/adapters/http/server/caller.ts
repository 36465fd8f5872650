import type { Response } from "express";
import { ANONYMOUS, type Identity } from "../../../domain/access/identity.ts";

/** Who sent a request, once that is known. */
export interface Caller {
  identity: Identity;
  /** Whether they still have their rights, for answers that last long. */
  isStillWelcome(): Promise<boolean>;
}

/** The caller of a call without authentication. */
const UNASKED: Caller = {
  identity: { ...ANONYMOUS, role: "viewer" },
  isStillWelcome: () => Promise.resolve(true),
};

export const callerOf = (response: Response): Caller => (response.locals["caller"] as Caller | undefined) ?? UNASKED;

export const setCaller = (response: Response, caller: Caller): void => void (response.locals["caller"] = caller);
