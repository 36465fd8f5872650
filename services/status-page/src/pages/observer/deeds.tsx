import type { ObserverView } from "@unacked/contracts";
import { useState } from "react";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { DeedButton } from "../../parts/deed-button.tsx";
import { sayFailure, useNotices } from "../../shell/notices.tsx";
import { allows, type Deed } from "../../store/statuses.ts";
import { doToOne } from "../../wire/deeds.ts";
import css from "./deeds.module.css";

const DEEDS: Record<Deed, { verb: string; done: string; text: string }> = {
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

export function Deeds({ observer, onDone }: { observer: ObserverView; onDone: () => void }) {
  const [asked, setAsked] = useState<Deed | null>(null);
  const { say } = useNotices();
  const run = async (deed: Deed) => {
    try {
      await doToOne(deed, observer.id);
      say("done", `${observer.name} ${DEEDS[deed].done}.`);
      onDone();
    } catch (error) {
      say("refused", `${observer.name}: ${sayFailure(error)}`);
    }
    setAsked(null);
  };
  const possible = (Object.keys(DEEDS) as Deed[]).filter((deed) => allows(observer.status, deed));
  return (
    <div className={css.deeds}>
      {possible.map((deed) => (
        <DeedButton
          key={deed}
          call={deed === "restart" ? "restartObserver" : "deleteObserver"}
          size="compact-md"
          variant="default"
          onClick={() => setAsked(deed)}
        >
          {DEEDS[deed].verb}
        </DeedButton>
      ))}
      {asked !== null && (
        <ConfirmDialog
          title={`${DEEDS[asked].verb} ${observer.name}?`}
          verb={DEEDS[asked].verb}
          isDangerous={asked !== "restart"}
          onConfirm={() => run(asked)}
          onClose={() => setAsked(null)}
        >
          <p>{DEEDS[asked].text}</p>
        </ConfirmDialog>
      )}
    </div>
  );
}
