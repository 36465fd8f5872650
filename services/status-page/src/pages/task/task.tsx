import type { TaskView } from "@unacked/contracts";
import { isTaskOver } from "@unacked/contracts";
import { useAnswer } from "../../live/use-answer.ts";
import { useShownNow } from "../../live/use-now.ts";
import { Blank } from "../../parts/blank.tsx";
import { type Fact, Facts } from "../../parts/facts.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { sayCount, sayDuration } from "../../parts/say.ts";
import { sayTimes } from "../../parts/say-times.ts";
import { Stack } from "../../parts/stack.tsx";
import { TaskMark } from "../../parts/status-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { Unanswered } from "../../parts/unanswered.tsx";
import { WhoDidWhat } from "../../parts/who-did-what.tsx";
import { Link } from "../../shell/navigation.tsx";
import { addressOfFlow, addressOfTask } from "../../shell/route.ts";
import { meaningOf, ranMs, shortId, TASK_INTERRUPTION_WORDS, TASK_WAIT_WORDS } from "../../store/task-looks.ts";
import css from "./task.module.css";
import { TaskActions } from "./task-actions.tsx";

const LOOK_EVERY_MS = 1_000;

/** All that is known of one task. */
export default function Task({ id }: { id: string }) {
  const nowMs = useShownNow(LOOK_EVERY_MS);
  const { data: task, failure, reload } = useAnswer("getTask", { path: { taskId: id } }, nowMs);
  if (failure?.code === "task-not-found")
    return (
      <>
        <h1>Task</h1>
        <Blank title="There is no such task">
          <p>It never was, or it ended so long ago that it is forgotten.</p>
          <p>
            <Link href="/tasks">To the tasks</Link>
          </p>
        </Blank>
      </>
    );
  if (task === null) return <Unanswered what="The task" height="20rem" failure={failure} onRetry={reload} />;
  return (
    <>
      <PageHead>
        <h1>
          {task.type} <code>{shortId(task.id)}</code>
        </h1>
        <TaskMark task={task} />
        <TaskActions task={task} onDone={reload} />
      </PageHead>
      <Facts facts={factsOf(task, nowMs)} />
      {task.lastError !== null && (
        <section aria-labelledby="error" className={css.section}>
          <h2 id="error">What it said last</h2>
          <p className={css.error}>
            {task.lastError.name}: {task.lastError.message}
          </p>
          <Stack of={`${task.lastError.name}: ${task.lastError.message}`} stack={task.lastError.stack} />
        </section>
      )}
      <Interruptions task={task} />
      <Children task={task} />
      <Json name="Params" value={task.params} />
      <Edits task={task} />
      {isTaskOver(task.status) && task.status === "Completed" && <Json name="Result" value={task.output} />}
    </>
  );
}

const TaskLink = ({ id }: { id: string }) => (
  <Link href={addressOfTask(id)} title={id}>
    <code>{shortId(id)}</code>
  </Link>
);

const InFlow = ({ flow: { id, ref } }: { flow: NonNullable<TaskView["flow"]> }) => (
  <>
    {ref} of{" "}
    <Link href={addressOfFlow(id)} title={id}>
      <code>{shortId(id)}</code>
    </Link>
  </>
);

/** What its handler created, and what it could not. */
function Children({ task: { created = [], refused = [] } }: { task: TaskView }) {
  if (created.length + refused.length === 0) return null;
  return (
    <section aria-labelledby="children" className={css.section}>
      <h2 id="children">What it created</h2>
      <ul>
        {created.map(({ id, type, outcome }) => (
          <li key={id}>
            {type} <TaskLink id={id} /> {outcome === "created" ? "" : `(${outcome})`}
          </li>
        ))}
        {refused.map(({ id, type, detail }) => (
          <li key={id}>
            {type}: refused, {detail}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** When, where and why its attempts were interrupted, the newest first: of many the last three. */
function Interruptions({ task: { interruptions, interrupted = [] } }: { task: TaskView }) {
  if (interrupted.length === 0) return null;
  const isAll = interruptions <= interrupted.length;
  return (
    <section aria-labelledby="interruptions" className={css.section}>
      <h2 id="interruptions">{isAll ? "It was interrupted" : `It was interrupted ${sayTimes(interruptions)}, last`}</h2>
      <ul>
        {interrupted.toReversed().map(({ at, reason, service, takenBy, detail }) => (
          <li key={`${at} ${reason} ${detail}`}>
            <Time at={at} isExact />{" "}
            {takenBy === null ? `on ${service?.name ?? "an unknown service"}` : `taken by ${takenBy}`}:{" "}
            {TASK_INTERRUPTION_WORDS[reason]}
            {detail !== null && `: ${detail}`}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Who has changed its params, the newest first, and what they were. */
function Edits({ task: { edits = [] } }: { task: TaskView }) {
  if (edits.length === 0) return null;
  return (
    <section aria-labelledby="edits" className={css.section}>
      <h2 id="edits">Its params were changed</h2>
      <ul>
        {edits.toReversed().map(({ at, by, before }) => (
          <li key={at}>
            <Time at={at} isExact /> by {by}; before: <code className={css.before}>{JSON.stringify(before)}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Json({ name, value }: { name: string; value: unknown }) {
  return (
    <section aria-label={name} className={css.section}>
      <h2>{name}</h2>
      {/* Focusable, as a long one scrolls. */}
      <pre className={`panel ${css.json}`} tabIndex={0} role="group" aria-label={`${name} as JSON`}>
        {JSON.stringify(value, null, 2)}
      </pre>
    </section>
  );
}

const TakenBy = ({ taken: { by, until } }: { taken: NonNullable<TaskView["taken"]> }) => (
  <>
    taken by {by}
    {until !== null && (
      <>
        {" "}
        until <Time at={until} isExact mayCome />
      </>
    )}
  </>
);

function waitText({ waitsFor, postponedFor, pool }: TaskView): string {
  if (waitsFor === "taker") return `${TASK_WAIT_WORDS.taker}; it is to be taken from the pool ${pool}`;
  return `${waitsFor === null ? "" : TASK_WAIT_WORDS[waitsFor]}${postponedFor === null ? "" : `: ${postponedFor}`}`;
}

function factsOf(task: TaskView, nowMs: number): Fact[] {
  const { status, cancelling, pool, priority, dueAt, startedAt, endedAt, createdAt, service, id } = task;
  const tookMs = ranMs(task, nowMs);
  const isOver = endedAt !== null;
  const runsOn = status === "Running" || (startedAt === null && !isOver) ? "Runs on" : "Ran last on";
  const nowhere = isOver ? "on no service" : "on no service yet";
  const time = (name: string, at: string | null): Fact[] =>
    at === null ? [] : [[name, <Time key={name} at={at} isExact mayCome={name === "Due"} />]];
  return [
    ["Status", `${status}: ${meaningOf(task)}${cancelling ? "; its handler has been told to end" : ""}`],
    ...(task.cancelled === null ? [] : [["Cancelled by", task.cancelled.by] satisfies Fact]),
    ...(task.waitsFor === null ? [] : [["Waits for", waitText(task)] satisfies Fact]),
    task.taken === null
      ? [runsOn, service?.name ?? nowhere]
      : ["Worked outside", <TakenBy key="taken" taken={task.taken} />],
    ...(task.flow === null ? [] : [["Flow", <InFlow key="flow" flow={task.flow} />] satisfies Fact]),
    ["Pool", pool],
    ["Priority", sayCount(priority)],
    ...time("Created", createdAt),
    ...time("Due", dueAt),
    ...time("Started", startedAt),
    ...time("Ended", endedAt),
    ...(tookMs === null ? [] : [["Ran for", sayDuration(tookMs)] satisfies Fact]),
    ["Failed attempts", `${sayCount(task.failures)}${task.maxAttempts === null ? "" : ` of ${sayCount(task.maxAttempts)}`}`],
    ["Interruptions", sayCount(task.interruptions)],
    ...(task.postpones === 0 ? [] : [["Put off", sayTimes(task.postpones)] satisfies Fact]),
    ["Sent", sayTimes(task.sends)],
    ...(task.parentId === null ? [] : [["Created by", <TaskLink key="parent" id={task.parentId} />] satisfies Fact]),
    [
      "Id",
      <span key="id">
        <code>{id}</code> <WhoDidWhat kind="task" id={id} />
      </span>,
    ],
  ];
}
