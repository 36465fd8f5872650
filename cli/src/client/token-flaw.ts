import { isToken } from "@unacked/client";
import { usageFailure } from "../failure.ts";

/** The message does not hold the token, as it goes into logs. */
export function refuseNoToken(token: string | undefined): void {
  if (token === undefined || isToken(token)) return;
  throw usageFailure(
    "The token is not valid: it has a line break, or another character that no header may have",
    "Give the token alone, without the line that goes with it.",
  );
}
