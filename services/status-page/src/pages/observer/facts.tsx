import { awaitedWorker, type ObserverView, type RejectedUpdate } from "@unacked/contracts";
import { useLive, useSignal } from "../../live/use-live.ts";
import { AgeOf } from "../../parts/age-of.tsx";
import { type Fact, Facts } from "../../parts/facts.tsx";
import { sayCount, sayDuration, sayMany } from "../../parts/say.ts";
import { Time } from "../../parts/time.tsx";
import { WhoDidWhat } from "../../parts/who-did-what.tsx";
import { Link } from "../../shell/navigation.tsx";
import { PENDING_LOOKS, STATUS_LOOKS } from "../../store/statuses.ts";
import css from "./facts.module.css";

export function ObserverFacts({ observer }: { observer: ObserverView }) {
  const { services } = useLive();
  useSignal(services.changed);
  return (
    <section aria-labelledby="facts-title" className={css.section}>
      <h2 id="facts-title" className={css.title}>
        What it is
      </h2>
      <Facts facts={factsOf(observer, services.isRead ? awaitedWorker(observer, services.living()) : undefined)} />
    </section>
  );
}

function factsOf(observer: ObserverView, worker: string | undefined): Fact[] {
  const {
    status,
    pending,
    silentSince,
    restartsLately,
    service,
    type,
    pool,
    labels,
    runNumber,
    attempts,
    nextAttemptAt,
    startAt,
    waitsFor,
    fencingToken,
    rejectedUpdate,
    createdAt,
    modifiedAt,
    id,
    revision,
  } = observer;
  const runsOn =
    service === null ? (
      "on no service now"
    ) : (
      <Link href={`/observers?service=${encodeURIComponent(service.name)}`}>{service.name}</Link>
    );
  return [
    ["Status", `${status}: ${STATUS_LOOKS[status].meaning}`],
    ...(pending === null ? [] : [["Under way", PENDING_LOOKS[pending].meaning] satisfies Fact]),
    ...(silentSince === null
      ? []
      : [
          [
            "Silent since",
            <span key="silent">
              <Time at={silentSince} isBare />, for <AgeOf since={silentSince} />
            </span>,
          ] satisfies Fact,
        ]),
    ...(startAt === null ? [] : [["Starts at", <Time key="start" at={startAt} mayCome />] satisfies Fact]),
    ...(worker === undefined ? [] : [["Waits for", worker] satisfies Fact]),
    ...(waitsFor === null ? [] : [["Requested", "waits for the manager's admission"] satisfies Fact]),
    ["Runs on", runsOn],
    ["Type", type],
    ["Pool", pool],
    [
      "Labels",
      Object.entries(labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(", ") || "none",
    ],
    ["Runs so far", sayCount(runNumber)],
    ["Restarts", `${sayCount(restartsLately)} in the last 10 min`],
    ...(fencingToken === null ? [] : [["Fencing token", String(fencingToken)] satisfies Fact]),
    ["Attempts", sayCount(attempts)],
    ...(nextAttemptAt === null ? [] : [["Next attempt", <Time key="next" at={nextAttemptAt} mayCome />] satisfies Fact]),
    ["On an error", retryOf(observer)],
    ["On silence", silenceOf(observer)],
    ["Created", <Time key="created" at={createdAt} />],
    ["Changed", <Time key="changed" at={modifiedAt} />],
    [
      "Id",
      <span key="id">
        <code>{id}</code> <WhoDidWhat kind="observer" id={id} />
      </span>,
    ],
    ["Wanted version", versionOf(observer)],
    ...(rejectedUpdate === null ? [] : [["Rejected", rejectionOf(rejectedUpdate)] satisfies Fact]),
    ["Revision", sayCount(revision)],
  ];
}

function silenceOf({ silence }: ObserverView): string {
  if (silence === null) return "as its type says";
  const { warnAfterMs, restartAfterMs } = silence;
  const parts = [
    ...(warnAfterMs === undefined ? [] : [`warns after ${sayDuration(warnAfterMs)}`]),
    ...(restartAfterMs === undefined ? [] : [`restarts after ${sayDuration(restartAfterMs)}`]),
  ];
  return parts.join(", ") || "nothing";
}

function retryOf({ retry }: ObserverView): string {
  const { maxAttempts, delaysMs } = retry;
  const attempts = maxAttempts === "unlimited" ? "retries without end" : `gives up after ${sayMany(maxAttempts, "attempt")}`;
  const delays = Array.isArray(delaysMs)
    ? delaysMs.map(sayDuration).join(", ")
    : `${sayDuration(delaysMs.initialMs)}, growing to ${sayDuration(delaysMs.maxMs)}`;
  return `${attempts}; delays: ${delays}`;
}

const rejectionOf = ({ specVersion, reason, at, keeps }: RejectedUpdate) => (
  <span key="rejected">
    version {sayCount(specVersion)}, <Time at={at} />: {reason}. It runs version {sayCount(keeps.specVersion)} until somebody
    changes the params or restarts it.
  </span>
);

/** What is wanted of it, and what it runs by. */
function versionOf({ specVersion, observedSpecVersion: observed }: ObserverView): string {
  const wanted = sayCount(specVersion);
  return observed === null || observed === specVersion ? wanted : `${wanted}; it runs version ${sayCount(observed)}`;
}
