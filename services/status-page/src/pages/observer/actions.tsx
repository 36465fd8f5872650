import { type ObserverView, traitsOf } from "@unacked/contracts";
import { useState } from "react";
import { ActionButton } from "../../parts/action-button.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { useNotices } from "../../shell/notices.tsx";
import { type Action, allows, OBSERVER_ACTIONS } from "../../store/statuses.ts";
import { doToOne } from "../../wire/actions.ts";
import { sayFailure } from "../../wire/say-failure.ts";
import css from "./actions.module.css";
import { EditDialog } from "./edit-dialog.tsx";

const ACTIONS: Record<Action, { verb: string; done: string; text: string }> = {
  stop: { verb: "Stop", done: "is being stopped", text: "It is stopped for good and deleted. Its name is free again then." },
  "force-stop": {
    verb: "Force stop",
    done: "was deleted",
    text: "It has not started, or nobody answers for it. It is deleted at once; a run that still appears is stopped.",
  },
  restart: {
    verb: "Restart",
    done: "is being restarted",
    text: "Its run is stopped and a new one begins, with all its attempts.",
  },
  pause: {
    verb: "Pause",
    done: "is being paused",
    text: "Its run is ended and its message removed; name and history stay, and nothing runs until it is resumed.",
  },
  resume: {
    verb: "Resume",
    done: "is being resumed",
    text: "It runs again if a worker is free: from its checkpoint, where it has saved one, else from the start.",
  },
};

const CALLS = {
  stop: "deleteObserver",
  "force-stop": "deleteObserver",
  restart: "restartObserver",
  pause: "pauseObserver",
  resume: "resumeObserver",
} as const;

const isDangerous = (action: Action): boolean => action === "stop" || action === "force-stop";

export function Actions({ observer, onDone }: { observer: ObserverView; onDone: () => void }) {
  const [asked, setAsked] = useState<Action | null>(null);
  const { say } = useNotices();
  const run = async (action: Action) => {
    try {
      await doToOne(action, observer.id);
      say("done", `${observer.name} ${ACTIONS[action].done}.`);
      onDone();
    } catch (error) {
      say("refused", `${observer.name}: ${sayFailure(error)}`);
    }
    setAsked(null);
  };
  const [isEdited, setEdited] = useState(false);
  const possible = OBSERVER_ACTIONS.filter((action) => allows(observer, action));
  return (
    <div className={css.actions}>
      {possible.map((action) => (
        <ActionButton key={action} call={CALLS[action]} size="compact-md" variant="default" onClick={() => setAsked(action)}>
          {ACTIONS[action].verb}
        </ActionButton>
      ))}
      {isOpenToChange(observer) && (
        <ActionButton call="changeObserver" size="compact-md" variant="default" onClick={() => setEdited(true)}>
          Edit
        </ActionButton>
      )}
      {isEdited && <EditDialog observer={observer} onClose={() => setEdited(false)} onDone={onDone} />}
      {asked !== null && (
        <ConfirmDialog
          title={`${ACTIONS[asked].verb} ${observer.name}?`}
          verb={ACTIONS[asked].verb}
          isDangerous={isDangerous(asked)}
          onConfirm={() => run(asked)}
          onClose={() => setAsked(null)}
        >
          <p>{ACTIONS[asked].text}</p>
        </ConfirmDialog>
      )}
    </div>
  );
}

const isOpenToChange = ({ status }: ObserverView): boolean => {
  const { run, stop } = traitsOf(status);
  return run !== "ending" && stop !== "no";
};
