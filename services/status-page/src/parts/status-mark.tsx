import type { ObserverStatus, ServiceState } from "@unacked/contracts";
import { STATUS_LOOKS, type Tone } from "../store/statuses.ts";
import css from "./status-mark.module.css";

export function StatusMark({ status }: { status: ObserverStatus }) {
  const { tone, sign, meaning } = STATUS_LOOKS[status];
  return <Mark tone={tone} sign={sign} text={status} title={meaning} />;
}

const STATE_LOOKS: Record<ServiceState, { tone: Tone; sign: string; title: string }> = {
  Alive: { tone: "good", sign: "●", title: "says that it lives" },
  Suspect: { tone: "wait", sign: "◑", title: "silent, not proven dead" },
  Stopped: { tone: "over", sign: "○", title: "said good-bye" },
  Gone: { tone: "bad", sign: "✕", title: "died without a word" },
};

export function StateMark({ state }: { state: ServiceState }) {
  return <Mark {...STATE_LOOKS[state]} text={state} />;
}

function Mark({ tone, sign, text, title }: { tone: Tone; sign: string; text: string; title: string }) {
  return (
    <span className={css.mark} data-tone={tone} title={title}>
      <span aria-hidden="true" className={css.sign}>
        {sign}
      </span>
      {text}
    </span>
  );
}
