import { useLive, useSignal } from "../live/use-live.ts";
import { useNow } from "../live/use-now.ts";
import { ReloadButton } from "../parts/reload-button.tsx";
import { sayAgo } from "../parts/say.ts";
import { Time } from "../parts/time.tsx";
import type { CallError } from "../wire/call.ts";
import css from "./link-banner.module.css";

const AWAY = "database-unavailable";

/** Says that what is shown is not the present: which part, since when, and what happens next. Nothing while all is live. */
export function LinkBanner() {
  const live = useLive();
  useSignal(live.linkChanged);
  useSignal(live.stats.changed);
  useSignal(live.observers.changed);
  useSignal(live.unread.changed);
  const { link, observers } = live;
  const { failure, readAtMs } = live.stats;
  const { oldest } = live.unread;
  if (failure?.isOfProxy)
    return <SignInElsewhere failure={failure} sinceMs={link.phase === "lost" ? link.sinceMs : readAtMs} />;
  if (oldest?.failure.isOfProxy) return <SignInElsewhere failure={oldest.failure} sinceMs={oldest.readAtMs} />;
  if (link.phase === "lost") return <Lost sinceMs={link.sinceMs} failure={failure} />;
  if (failure === null) return oldest === undefined ? null : <Old {...oldest} />;
  // A stream that is open brings nothing while the manager cannot read what changed.
  const isLive = link.phase === "live" && !observers.isBehind && failure.code !== AWAY;
  return (
    <div className={css.banner} data-banner role="status">
      <Refused failure={failure} otherwise="The manager does not give its figures." />
      {readAtMs > 0 && (
        <>
          {" "}
          Counts, workers and warnings are those of <Time at={readAtMs} isBare />
          {isLive && "; the list of observers is live"}.
        </>
      )}
    </div>
  );
}

/** It may go on by itself, where somebody signs in by another tab. */
function SignInElsewhere({ failure, sinceMs }: { failure: CallError; sinceMs: number }) {
  return (
    <div className={css.banner} data-banner>
      <span role="status">
        <strong>{failure.message}.</strong> {failure.remedy}{" "}
        {sinceMs > 0 && (
          <>
            What is shown may be as it was at <Time at={sinceMs} isBare />.
          </>
        )}
      </span>{" "}
      <ReloadButton />
    </div>
  );
}

/** The rest of the page is live. */
function Old({ failure, readAtMs }: { failure: CallError; readAtMs: number }) {
  return (
    <div className={css.banner} data-banner role="status">
      <Refused failure={failure} otherwise="Some of what is shown could not be read again." /> It is as it was at{" "}
      <Time at={readAtMs} isBare />.
    </div>
  );
}

function Lost({ sinceMs, failure }: { sinceMs: number; failure: CallError | null }) {
  const nowMs = useNow(1_000);
  const live = useLive();
  const hasSeen = live.stats.readAtMs > 0 || live.observers.index.size > 0;
  return (
    <div className={css.banner} data-banner>
      <span role="status">
        {failure?.isAnswer ? (
          <Refused failure={failure} otherwise="The manager answers, but does not tell what changes." />
        ) : (
          <>
            <strong>No connection to the manager.</strong> It is tried again every second.
          </>
        )}{" "}
        {hasSeen ? "Observers run on without it; everything below is as it was at " : "Nothing could be read since "}
        <Time at={sinceMs} isBare />.
      </span>{" "}
      <span className={css.ago}>({sayAgo(nowMs - sinceMs)})</span>
    </div>
  );
}

/** What the manager says against it. `otherwise`: what that comes to where it is not the database. */
function Refused({ failure: { code, title, message, remedy }, otherwise }: { failure: CallError; otherwise: string }) {
  const isDatabase = code === AWAY;
  return (
    <>
      <strong>{isDatabase ? "The manager answers, but cannot use its database." : otherwise}</strong> {title}
      {message !== title && `: ${message}`}. {isDatabase ? "This page tries again by itself." : remedy}
    </>
  );
}
