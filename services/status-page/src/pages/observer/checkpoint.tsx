import type { CheckpointView, ObserverView } from "@unacked/contracts";
import { useState } from "react";
import { useAnswer } from "../../live/use-answer.ts";
import { ActionButton } from "../../parts/action-button.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Time } from "../../parts/time.tsx";
import { useNotices } from "../../shell/notices.tsx";
import { resetCheckpoint } from "../../wire/actions.ts";
import { sayFailure } from "../../wire/say-failure.ts";
import { EditCheckpoint } from "./edit-checkpoint.tsx";
import css from "./observer.module.css";

/** What its next run starts with, where a run has saved that. It is read when the observer changes: runs may save each second. */
export function Checkpoint({ observer, version }: { observer: ObserverView; version: unknown }) {
  const asked = observer.fencingToken === null ? null : { path: { ref: observer.id } };
  const { data, failure, reload } = useAnswer("getCheckpoint", asked, version);
  if (data === null && failure !== null) return <Failure what="Its checkpoint" failure={failure} onRetry={reload} />;
  if (data === null || data.savedAt === null) return null;
  const hasRun = observer.currentRunId !== null || observer.waitsFor !== null;
  return (
    <section aria-labelledby="checkpoint-title">
      <h2 id="checkpoint-title" className={css.title}>
        Checkpoint
      </h2>
      {/* Focusable, as a long one scrolls. */}
      <pre className={`panel ${css.params}`} tabIndex={0} aria-labelledby="checkpoint-title">
        {data.value === null ? "none: the next run starts without one" : JSON.stringify(data.value, null, 2)}
      </pre>
      <p>
        <Saved checkpoint={data} />
        {hasRun && " To edit or reset it, pause the observer."}
      </p>
      {!hasRun && (
        <p className={css.checkpointActions}>
          <EditCheckpoint observer={observer} checkpoint={data} onDone={reload} />
          {data.value !== null && <Reset observer={observer} checkpoint={data} onDone={reload} />}
        </p>
      )}
    </section>
  );
}

function Saved({ checkpoint: { number, value, savedAt, runId } }: { checkpoint: CheckpointView }) {
  if (savedAt === null) return null;
  const who = runId === null ? (value === null ? "Reset" : "Set") : `Number ${number}, saved`;
  return (
    <>
      {who} <Time at={savedAt} />.
    </>
  );
}

function Reset({
  observer,
  checkpoint,
  onDone,
}: {
  observer: ObserverView;
  checkpoint: CheckpointView;
  onDone: () => void;
}) {
  const [isAsked, setAsked] = useState(false);
  const { say } = useNotices();
  const reset = async () => {
    try {
      await resetCheckpoint(observer.id, checkpoint);
      say("done", `The checkpoint of ${observer.name} was reset.`);
      onDone();
    } catch (error) {
      say("refused", `${observer.name}: ${sayFailure(error)}`);
    }
    setAsked(false);
  };
  return (
    <>
      <ActionButton call="resetCheckpoint" size="compact-sm" variant="default" onClick={() => setAsked(true)}>
        Reset checkpoint
      </ActionButton>
      {isAsked && (
        <ConfirmDialog
          title={`Reset the checkpoint of ${observer.name}?`}
          verb="Reset"
          isDangerous
          onConfirm={reset}
          onClose={() => setAsked(false)}
        >
          <p>Its next run begins from the start, without what earlier runs have reached.</p>
        </ConfirmDialog>
      )}
    </>
  );
}
