import { useShownNow } from "../live/use-now.ts";
import { sayAge } from "./say.ts";

/** For how long it has been so, counted on. */
export function AgeOf({ since }: { since: string }) {
  const nowMs = useShownNow(1_000);
  return <>{sayAge(nowMs - Date.parse(since))}</>;
}
