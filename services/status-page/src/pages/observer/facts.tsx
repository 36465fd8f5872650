import type { ObserverView } from "@unacked/contracts";
import { type Fact, Facts } from "../../parts/facts.tsx";
import { sayCount, sayDuration, sayMany } from "../../parts/say.ts";
import { Time } from "../../parts/time.tsx";
import { Link } from "../../shell/navigation.tsx";
import { PENDING_LOOKS, STATUS_LOOKS } from "../../store/statuses.ts";
import css from "./facts.module.css";

export function ObserverFacts({ observer }: { observer: ObserverView }) {
  return (
    <section aria-labelledby="facts-title" className={css.section}>
      <h2 id="facts-title" className={css.title}>
        What it is
      </h2>
      <Facts facts={factsOf(observer)} />
    </section>
  );
}

function factsOf(observer: ObserverView): Fact[] {
  const {
    status,
    pending,
    service,
    type,
    pool,
    labels,
    runNumber,
    attempts,
    nextAttemptAt,
    startAt,
    startProblem,
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
    ...(startAt === null ? [] : [["Starts at", <Time key="start" at={startAt} />] satisfies Fact]),
    ...(startProblem === null ? [] : [["Waits for", "a free worker: its time has come, and there is none"] satisfies Fact]),
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
    ["Attempts", sayCount(attempts)],
    ...(nextAttemptAt === null ? [] : [["Next attempt", <Time key="next" at={nextAttemptAt} />] satisfies Fact]),
    ["On an error", retryOf(observer)],
    ["Created", <Time key="created" at={createdAt} />],
    ["Changed", <Time key="changed" at={modifiedAt} />],
    ["Id", <code key="id">{id}</code>],
    ["Revision", sayCount(revision)],
  ];
}

function retryOf({ retry }: ObserverView): string {
  const { maxAttempts, delaysMs } = retry;
  const attempts =
    maxAttempts === "unlimited" ? "tried again without end" : `given up after ${sayMany(maxAttempts, "attempt")}`;
  const delays = Array.isArray(delaysMs)
    ? delaysMs.map(sayDuration).join(", ")
    : `${sayDuration(delaysMs.initialMs)}, growing to ${sayDuration(delaysMs.maxMs)}`;
  return `${attempts}; delays: ${delays}`;
}
