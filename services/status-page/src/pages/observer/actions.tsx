import type { ObserverView } from "@unacked/contracts";
import { useState } from "react";
import { ActionButton } from "../../parts/action-button.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { sayFailure, useNotices } from "../../shell/notices.tsx";
import { type Action, allows } from "../../store/statuses.ts";
import { doToOne } from "../../wire/actions.ts";
import css from "./actions.module.css";

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
};

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
  const possible = (Object.keys(ACTIONS) as Action[]).filter((action) => allows(observer.status, action));
  return (
    <div className={css.actions}>
      {possible.map((action) => (
        <ActionButton
          key={action}
          call={action === "restart" ? "restartObserver" : "deleteObserver"}
          size="compact-md"
          variant="default"
          onClick={() => setAsked(action)}
        >
          {ACTIONS[action].verb}
        </ActionButton>
      ))}
      {asked !== null && (
        <ConfirmDialog
          title={`${ACTIONS[asked].verb} ${observer.name}?`}
          verb={ACTIONS[asked].verb}
          isDangerous={asked !== "restart"}
          onConfirm={() => run(asked)}
          onClose={() => setAsked(null)}
        >
          <p>{ACTIONS[asked].text}</p>
        </ConfirmDialog>
      )}
    </div>
  );
}
