import css from "./found-count.module.css";
import { sayCount } from "./say.ts";

interface Found {
  total: number;
  isTotalExact: boolean;
}

/** How many of those that match are shown; read out as it changes. Nothing where there are none: the blank says so. */
export function FoundCount({ shown, of: { total, isTotalExact } }: { shown: number; of: Found }) {
  return (
    <p className={css.count} role="status">
      {total === 0 ? "" : `${sayCount(shown)} of ${isTotalExact ? "" : "more than "}${sayCount(total)}`}
    </p>
  );
}
