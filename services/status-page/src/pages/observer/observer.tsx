import { isOver, type ObserverView, traitsOf } from "@unacked/contracts";
import { type Answered, useAnswer } from "../../live/use-answer.ts";
import { useLive, useSignal } from "../../live/use-live.ts";
import { useLogTail } from "../../live/use-log-tail.ts";
import { Blank } from "../../parts/blank.tsx";
import { Stack } from "../../parts/stack.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { Unanswered } from "../../parts/unanswered.tsx";
import { Link } from "../../shell/navigation.tsx";
import { Actions } from "./actions.tsx";
import { Checkpoint } from "./checkpoint.tsx";
import { EmittedValues } from "./emitted-values.tsx";
import { ObserverFacts } from "./facts.tsx";
import { LogPanel } from "./log-panel.tsx";
import css from "./observer.module.css";
import { RunHistory } from "./run-history.tsx";
import { Timeline } from "./timeline.tsx";
import { usePause } from "./use-pause.ts";

/** One observer, by id or name. The stream says that it changed; then all of it is read again. */
export default function Observer({ reference }: { reference: string }) {
  const { observers } = useLive();
  useSignal(observers.changed);
  const { id, failure: unnamed, reload: askAgain } = useObserverId(reference);
  const asked = id === undefined ? null : { path: { ref: id } };
  // Each event brings a new row, also of what the row does not say: that its time to start has come, and no worker is free. A deleted one leaves.
  const version = observers.index.get(id ?? "");
  const { data: observer, failure: unread, reload: readAgain } = useAnswer("getObserver", asked, version);
  const { data: runs, failure: runsFailure, reload: reloadRuns } = useAnswer("listRuns", asked, version);
  const [failure, reload] = id === undefined ? [unnamed, askAgain] : [unread, readAgain];
  if (failure?.code === "observer-not-found") return <NotThere reference={reference} />;
  if (observer === null) return <Unanswered what="The observer" height="60vh" failure={failure} onRetry={reload} />;
  return (
    <>
      <header className={css.head}>
        <p className={css.path}>
          <Link href="/observers">Observers</Link> /
        </p>
        <h1>{observer.name}</h1>
        <StatusMark status={observer.status} pending={observer.pending} isSilent={observer.silentSince !== null} />
        <Actions observer={observer} onDone={reload} />
      </header>
      <LastError observer={observer} />
      <Now key={observer.id} observer={observer} />
      <Checkpoint observer={observer} version={version} />
      <section aria-labelledby="runs-title">
        <h2 id="runs-title" className={css.title}>
          Runs
        </h2>
        {runs === null && <Unanswered what="Its runs" height="10rem" failure={runsFailure} onRetry={reloadRuns} />}
        {runs !== null && <RunHistory observer={observer} runs={runs.items} total={runs.total} version={version} />}
      </section>
      <Timeline key={`timeline of ${observer.id}`} id={observer.id} version={version} />
    </>
  );
}

/** What it is, and what it says. One that is restarted after its end says something again, be it only that it fails again. */
function Now({ observer }: { observer: ObserverView }) {
  const life = isOver(observer.status) ? `over after ${observer.runNumber}` : "lives";
  const followed = useLogTail(observer.id, life);
  const paused = usePause(followed.tail);
  return (
    <>
      <div className={css.columns}>
        <ObserverFacts observer={observer} />
        <div className={css.side}>
          <Params params={observer.params} />
          <EmittedValues tail={paused.shown} />
        </div>
      </div>
      <LogPanel followed={followed} paused={paused} />
    </>
  );
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The stream tells of ids, and a deleted one has no name any more: a name leads to an id, once. */
function useObserverId(reference: string): Pick<Answered<ObserverView>, "failure" | "reload"> & { id: string | undefined } {
  const isId = UUID.test(reference);
  const { data, failure, reload } = useAnswer("getObserver", isId ? null : { path: { ref: reference } });
  return { id: isId ? reference.toLowerCase() : data?.id, failure, reload };
}

function NotThere({ reference }: { reference: string }) {
  return (
    <>
      <h1 className="unseen">{reference}</h1>
      <Blank title={`There is no observer ${reference}`}>
        <p>A deleted observer is found by its id alone, while the manager keeps it.</p>
        <p>
          <Link href={`/observers?q=${encodeURIComponent(reference)}`}>Search the living observers</Link>
        </p>
      </Blank>
    </>
  );
}

function LastError({ observer }: { observer: ObserverView }) {
  const { lastError } = observer;
  if (lastError === null) return null;
  return (
    <section aria-label="Last error" className={css.error} data-over={!traitsOf(observer.status).isFailing}>
      <strong>{lastError.name}</strong>
      {/* Focusable, as a long one scrolls. */}
      <pre className={css.message} tabIndex={0} role="group" aria-label="Message">
        {lastError.message}
      </pre>
      <Stack of={`${lastError.name}: ${lastError.message}`} stack={lastError.stack} />
      <p className={css.when}>
        {lastError.at !== null && (
          <>
            Last seen <Time at={lastError.at} />.{" "}
          </>
        )}
        <Link href={`/observers?errorGroup=${encodeURIComponent(lastError.group)}`}>All with this error</Link>
      </p>
    </section>
  );
}

function Params({ params }: { params: unknown }) {
  return (
    <section aria-labelledby="params-title">
      <h2 id="params-title" className={css.title}>
        Params
      </h2>
      {/* Focusable, as a long one scrolls. */}
      <pre className={`panel ${css.params}`} tabIndex={0} aria-labelledby="params-title">
        {JSON.stringify(params, null, 2)}
      </pre>
    </section>
  );
}
