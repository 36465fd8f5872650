import type {
  FlowView,
  ObserverStatus,
  OccurrenceView,
  Pending,
  ScheduleStatusName,
  ServiceState,
  ServiceView,
  TaskStatus,
  TaskView,
  TimelineEntry,
  TimerStatusName,
  WorkStatusName,
} from "@unacked/contracts";
import { FLOW_LOOKS } from "../store/flow-looks.ts";
import { looksOfOccurrence, SCHEDULE_LOOKS } from "../store/schedule-looks.ts";
import { PENDING_LOOKS, SILENT_LOOK, STATUS_LOOKS, type Tone } from "../store/statuses.ts";
import { meaningOf, TASK_LOOKS } from "../store/task-looks.ts";
import { looksOfEntry } from "../store/timeline-looks.ts";
import { TIMER_LOOKS } from "../store/timer-looks.ts";
import { WORK_LOOKS } from "../store/work-looks.ts";
import css from "./status-mark.module.css";

interface StatusMarkProps {
  status: ObserverStatus;
  pending?: Pending | null;
  isSilent?: boolean;
}

export function StatusMark({ status, pending = null, isSilent = false }: StatusMarkProps) {
  const { text, tone, sign, meaning } = isSilent ? SILENT_LOOK : { ...STATUS_LOOKS[status], text: status };
  const mark = <Mark tone={tone} sign={sign} text={text} title={meaning} />;
  if (pending === null) return mark;
  const { meaning: title, ...looks } = PENDING_LOOKS[pending];
  return (
    <span>
      {mark} <Mark {...looks} title={title} />
    </span>
  );
}

export function TaskMark({ task }: { task: TaskView }) {
  if (task.cancelling) return <Mark tone="wait" sign="◌" text="Cancelling" title="its handler has been told to end" />;
  const { tone, sign } = TASK_LOOKS[task.status];
  return <Mark tone={tone} sign={sign} text={task.status} title={meaningOf(task)} />;
}

export function PlainTaskMark({ status }: { status: TaskStatus }) {
  const { tone, sign, meaning } = TASK_LOOKS[status];
  return <Mark tone={tone} sign={sign} text={status} title={meaning} />;
}

export function TimerMark({ status }: { status: TimerStatusName }) {
  const { tone, sign, meaning } = TIMER_LOOKS[status];
  return <Mark tone={tone} sign={sign} text={status} title={meaning} />;
}

export function WorkMark({ status }: { status: WorkStatusName }) {
  const { tone, sign, meaning } = WORK_LOOKS[status];
  return <Mark tone={tone} sign={sign} text={status} title={meaning} />;
}

export function FlowMark({ flow: { status, cancelling } }: { flow: FlowView }) {
  const { tone, sign, meaning } = FLOW_LOOKS[status];
  if (cancelling && status === "Running")
    return <Mark tone="wait" sign="◌" text="Cancelling" title="some of its tasks have not ended yet" />;
  return <Mark tone={tone} sign={sign} text={status} title={meaning} />;
}

export function ScheduleMark({ status, problem }: { status: ScheduleStatusName; problem: string | null }) {
  const { tone, sign, meaning } = SCHEDULE_LOOKS[status];
  if (problem !== null) return <Mark tone="bad" sign="✕" text="Cannot go on" title={problem} />;
  return <Mark tone={tone} sign={sign} text={status} title={meaning} />;
}

export function OccurrenceMark({ occurrence }: { occurrence: OccurrenceView }) {
  const { tone, sign, text, meaning } = looksOfOccurrence(occurrence);
  return <Mark tone={tone} sign={sign} text={text} title={meaning} />;
}

export function StepMark({ entry }: { entry: TimelineEntry }) {
  const { tone, sign, text } = looksOfEntry(entry);
  return <Mark tone={tone} sign={sign} text={text} title={text} />;
}

const STATE_LOOKS: Record<ServiceState, { tone: Tone; sign: string; title: string }> = {
  Alive: { tone: "good", sign: "●", title: "says that it lives" },
  Suspect: { tone: "wait", sign: "◑", title: "silent, not proven dead" },
  Stopped: { tone: "over", sign: "○", title: "said good-bye" },
  Gone: { tone: "bad", sign: "✕", title: "has lost its connection, or was killed" },
};

export function StateMark({ state }: { state: ServiceState }) {
  return <Mark {...STATE_LOOKS[state]} text={state} />;
}

/** A living one may drain beside its state; of one that is well, only that is said. */
export function ServiceMark({ service: { state, draining, drained, cordoned, endedAt } }: { service: ServiceView }) {
  if (!(draining || cordoned) || endedAt !== null) return <StateMark state={state} />;
  const mark = cordoned ? CORDONED : drained ? DRAINED : DRAINING;
  if (state === "Alive") return <Mark {...mark} />;
  return (
    <span>
      <StateMark state={state} /> <Mark {...mark} />
    </span>
  );
}

const DRAINING: Looks = {
  tone: "wait",
  sign: "◒",
  text: "Draining",
  title: "takes nothing new, and gives back what it runs",
};
const CORDONED: Looks = {
  tone: "wait",
  sign: "◌",
  text: "Cordoned",
  title: "takes nothing new; what runs on it goes on",
};
const DRAINED: Looks = {
  tone: "over",
  sign: "◌",
  text: "Drained",
  title: "is empty and takes nothing: its process can be ended",
};

interface Looks {
  tone: Tone;
  sign: string;
  text: string;
  title: string;
}

function Mark({ tone, sign, text, title }: Looks) {
  return (
    <span className={css.mark} data-tone={tone} title={title}>
      <span aria-hidden="true" className={css.sign}>
        {sign}
      </span>
      {text}
    </span>
  );
}
