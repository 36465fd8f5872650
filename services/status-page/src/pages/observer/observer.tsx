import type { ObserverView, RunList } from "@unacked/contracts";
import { useAnswer } from "../../live/use-answer.ts";
import { useLive, useSignal } from "../../live/use-live.ts";
import { Blank, Pending } from "../../parts/blank.tsx";
import { Failure } from "../../parts/failure.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { Link } from "../../shell/navigation.tsx";
import { Deeds } from "./deeds.tsx";
import { Facts } from "./facts.tsx";
import css from "./observer.module.css";
import { RunHistory } from "./run-history.tsx";

/** One observer, by id or name. The stream says that it changed; then it is read anew, whole. */
export default function Observer({ reference }: { reference: string }) {
  const { observers } = useLive();
  useSignal(observers.changed);
  const path = `/observers/${encodeURIComponent(reference)}`;
  const id = useObserverId(reference, path);
  const row = observers.index.get(id ?? "");
  // A deleted one leaves the index: that, too, is a change.
  const version = `${row?.modifiedAt} ${row?.status} ${row?.epoch}`;
  const { data: observer, failure, reload } = useAnswer<ObserverView>(path, version);
  const { data: runs, failure: runsFailure, reload: reloadRuns } = useAnswer<RunList>(`${path}/runs`, version);
  if (failure?.code === "observer-not-found") return <NotThere reference={reference} />;
  if (observer === null && failure !== null) return <Failure what="The observer" failure={failure} onRetry={reload} />;
  if (observer === null) return <Pending label="Reading the observer" height="60vh" />;
  return (
    <>
      <header className={css.head}>
        <p className={css.path}>
          <Link href="/observers">Observers</Link> /
        </p>
        <h1 className={css.name}>{observer.name}</h1>
        <StatusMark status={observer.status} />
        <Deeds observer={observer} onDone={reload} />
      </header>
      <LastError observer={observer} />
      <div className={css.columns}>
        <Facts observer={observer} />
        <Params params={observer.params} />
      </div>
      <section aria-labelledby="runs-title">
        <h2 id="runs-title" className={css.title}>
          Runs
        </h2>
        {runs === null && runsFailure !== null && <Failure what="Its runs" failure={runsFailure} onRetry={reloadRuns} />}
        {runs === null && runsFailure === null && <Pending label="Reading its runs" height="10rem" />}
        {runs !== null && <RunHistory runs={runs.items} total={runs.total} />}
      </section>
    </>
  );
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The stream tells of ids; a name leads to one. */
function useObserverId(reference: string, path: string): string | undefined {
  const isId = UUID.test(reference);
  const named = useAnswer<ObserverView>(isId ? null : path);
  return isId ? reference.toLowerCase() : named.data?.id;
}

function NotThere({ reference }: { reference: string }) {
  return (
    <>
      <h1 className="unseen">{reference}</h1>
      <Blank title={`There is no observer ${reference}`}>
        <p>A deleted observer is found by its id only, and only for as long as the manager keeps it.</p>
        <p>
          <Link href={`/observers?q=${encodeURIComponent(reference)}`}>Search for it among those that live</Link>
        </p>
      </Blank>
    </>
  );
}

const FAILING: ReadonlySet<ObserverView["status"]> = new Set(["Retrying", "Failed"]);

function LastError({ observer }: { observer: ObserverView }) {
  const { lastError } = observer;
  if (lastError === null) return null;
  return (
    <section aria-label="Last error" className={css.error} data-over={!FAILING.has(observer.status)}>
      <strong>{lastError.name}</strong>
      <pre className={css.message}>{lastError.message}</pre>
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
