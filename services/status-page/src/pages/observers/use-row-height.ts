import { useSyncExternalStore } from "react";

const NARROW = "(max-width: 40rem)";
const WIDE_PX = 36;
/** Two lines. */
const NARROW_PX = 64;

const query = matchMedia(NARROW);

function subscribe(listener: () => void): () => void {
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
}

/** In pixels; the same as in observer-table.module.css. */
export function useRowHeight(): number {
  const isNarrow = useSyncExternalStore(subscribe, () => query.matches);
  return isNarrow ? NARROW_PX : WIDE_PX;
}
