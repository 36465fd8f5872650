import type { FlowView } from "@unacked/contracts";
import { useAnswer } from "../../live/use-answer.ts";
import { useFlowTasks } from "../../live/use-flow-tasks.ts";
import { useShownNow } from "../../live/use-now.ts";
import { Blank } from "../../parts/blank.tsx";
import { type Fact, Facts } from "../../parts/facts.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { Progress } from "../../parts/progress.tsx";
import { sayCount, sayDuration } from "../../parts/say.ts";
import { FlowMark } from "../../parts/status-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { Unanswered } from "../../parts/unanswered.tsx";
import { WhoDidWhat } from "../../parts/who-did-what.tsx";
import { Link } from "../../shell/navigation.tsx";
import { FLOW_LOOKS, flowMs, partsOf, sayProgress } from "../../store/flow-looks.ts";
import { shortId } from "../../store/task-looks.ts";
import css from "./flow.module.css";
import { FlowActions } from "./flow-actions.tsx";
import { FlowPicture } from "./flow-picture.tsx";
import { FlowTasks } from "./flow-tasks.tsx";

const LOOK_EVERY_MS = 2_000;

/** One flow: its picture, and each of its tasks. */
export default function Flow({ id }: { id: string }) {
  const nowMs = useShownNow(LOOK_EVERY_MS);
  const { data: flow, failure, reload } = useAnswer("getFlow", { path: { flowId: id } }, nowMs);
  // What is over does not change any more, unless it is run again.
  const version = flow === null ? "unknown" : flow.endedAt === null ? nowMs : `${flow.run} ${flow.endedAt}`;
  const { tasks, failure: tasksFailure, reload: readTasks } = useFlowTasks(id, version);
  if (failure?.code === "flow-not-found")
    return (
      <>
        <h1>Flow</h1>
        <Blank title="There is no such flow">
          <p>It never was, or it ended so long ago that it is forgotten.</p>
          <p>
            <Link href="/flows">To the flows</Link>
          </p>
        </Blank>
      </>
    );
  if (flow === null) return <Unanswered what="The flow" height="20rem" failure={failure} onRetry={reload} />;
  return (
    <>
      <PageHead>
        <h1>{flow.name ?? <code>{shortId(flow.id)}</code>}</h1>
        <FlowMark flow={flow} />
        <FlowActions flow={flow} onDone={reload} />
      </PageHead>
      <Facts facts={factsOf(flow, nowMs)} />
      {tasks === null && <Unanswered what="Its tasks" height="16rem" failure={tasksFailure} onRetry={readTasks} />}
      {tasks !== null && (
        <>
          <FlowPicture tasks={tasks} />
          <FlowTasks flow={flow} tasks={tasks} nowMs={nowMs} onDone={reload} />
        </>
      )}
    </>
  );
}

function factsOf(flow: FlowView, nowMs: number): Fact[] {
  const { id, status, cancelling, reason, run, createdAt, endedAt } = flow;
  const tookMs = flowMs(flow, nowMs);
  return [
    ["Status", `${status}: ${FLOW_LOOKS[status].meaning}${cancelling ? "; it is being cancelled" : ""}`],
    ...(reason === null ? [] : [["Why", reason] satisfies Fact]),
    [
      "Done",
      <div key="done" className={css.done}>
        <Progress parts={partsOf(flow)} />
        <span>{sayProgress(flow)}</span>
      </div>,
    ],
    ["Run", run === 1 ? "the first" : `number ${sayCount(run)}: it was run again`],
    ["Created", <Time key="created" at={createdAt} isExact />],
    ...(endedAt === null ? [] : [["Ended", <Time key="ended" at={endedAt} isExact />] satisfies Fact]),
    ...(tookMs === null ? [] : [[endedAt === null ? "Has taken" : "Took", sayDuration(tookMs)] satisfies Fact]),
    [
      "Id",
      <span key="id">
        <code>{id}</code> <WhoDidWhat kind="flow" id={id} />
      </span>,
    ],
  ];
}
