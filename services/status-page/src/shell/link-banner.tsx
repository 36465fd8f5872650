import { useLive, useSignal } from "../live/use-live.ts";
import { useNow } from "../live/use-now.ts";
import { sayAge } from "../parts/say.ts";
import { Time } from "../parts/time.tsx";
import css from "./link-banner.module.css";

/** Says that what is shown is not the present: which part, since when, and what happens next. Nothing while all is live. */
export function LinkBanner() {
  const live = useLive();
  useSignal(live.linkChanged);
  useSignal(live.stats.changed);
  useSignal(live.observers.changed);
  const { link, observers } = live;
  if (link.phase === "lost") return <Lost sinceMs={link.sinceMs} />;
  const { failure, readAtMs } = live.stats;
  if (failure === null) return null;
  return (
    <div className={css.banner} data-banner role="status">
      <strong>The manager does not give its figures.</strong> {failure.message}. {failure.remedy}
      {readAtMs > 0 && (
        <>
          {" "}
          Counts, workers and warnings are those of <Time at={readAtMs} isBare />
          {link.phase === "live" && !observers.isBehind && "; the list of observers is live"}.
        </>
      )}
    </div>
  );
}

function Lost({ sinceMs }: { sinceMs: number }) {
  const nowMs = useNow(1_000);
  const live = useLive();
  const hasSeen = live.stats.readAtMs > 0 || live.observers.index.size > 0;
  return (
    <div className={css.banner} data-banner>
      <span role="status">
        <strong>No connection to the manager.</strong> It is tried again every second.{" "}
        {hasSeen ? "Observers run on without it; everything below is as it was at " : "Nothing could be read since "}
        <Time at={sinceMs} isBare />.
      </span>{" "}
      <span className={css.ago}>({sayAge(nowMs - sinceMs)} ago)</span>
    </div>
  );
}
