import { useSyncExternalStore } from "react";
import { followDays, today } from "./today.ts";

/** Told at midnight, too: what stands there from the day before needs its date from then on. */
export const useToday = (): string => useSyncExternalStore(followDays, today);
