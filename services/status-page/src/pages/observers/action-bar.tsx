import { Button } from "@mantine/core";
import { useRef, useState } from "react";
import { useLive, useSignal } from "../../live/use-live.ts";
import { ActionButton } from "../../parts/action-button.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { sayCount, sayMany } from "../../parts/say.ts";
import { useNotices } from "../../shell/notices.tsx";
import type { ListFilter } from "../../store/list-filter.ts";
import type { OrderedRows } from "../../store/ordered-rows.ts";
import { areAllChosen, type Selection } from "../../store/selection.ts";
import { type Action, allows, OBSERVER_ACTIONS } from "../../store/statuses.ts";
import { wishFor, wishOf } from "../../store/work-looks.ts";
import { type ActionReport, doToMany } from "../../wire/actions.ts";
import { sayFailure } from "../../wire/say-failure.ts";
import css from "./action-bar.module.css";
import { WorkDialog } from "./work-dialog.tsx";

const ACTIONS: Record<Action, { verb: string; done: string; text: string }> = {
  stop: { verb: "Stop", done: "being stopped", text: "Each is stopped for good and deleted; its name is free again then." },
  "force-stop": {
    verb: "Force stop",
    done: "deleted",
    text: "These have not started, or nobody answers for them. They are deleted at once; a run that still appears is stopped.",
  },
  restart: {
    verb: "Restart",
    done: "being restarted",
    text: "Each run is stopped and a new one begins, with all its attempts.",
  },
  pause: {
    verb: "Pause",
    done: "being paused",
    text: "Each run is ended and its message removed; name and history stay, and nothing runs until it is resumed.",
  },
  resume: {
    verb: "Resume",
    done: "being resumed",
    text: "Each runs again where a worker is free: from its checkpoint, if it has saved one, else from the start.",
  },
};

const CALLS = {
  stop: "stopObservers",
  "force-stop": "stopObservers",
  restart: "restartObservers",
  pause: "pauseObservers",
  resume: "resumeObservers",
} as const;

const isDangerous = (action: Action): boolean => action === "stop" || action === "force-stop";

interface Props {
  selection: Selection;
  /** What the list shows. */
  rows: OrderedRows;
  filter: ListFilter;
  onDone: () => void;
}

/** What can be done with the chosen ones; its place is kept while none is chosen, so that nothing moves. */
export function ActionBar({ selection, rows, filter, onDone }: Props) {
  const shown = rows.length;
  const { observers } = useLive();
  useSignal(observers.changed);
  const [asked, setAsked] = useState<Action | null>(null);
  /** All that match, whoever that is by then, rather than those that were chosen; of this choice and this filter alone. */
  const [whole, setWhole] = useState<{ selection: Selection; filter: ListFilter } | null>(null);
  const wish = wishOf(filter);
  // Also once others have come, of whom nobody has chosen any.
  const isWhole = wish !== undefined && whole?.selection === selection && whole.filter === filter;
  const canBeWhole = wish !== undefined && !isWhole && areAllChosen(selection, rows);
  const bar = useRef<HTMLDivElement>(null);
  const { say } = useNotices();
  const chosen = (isWhole ? rows.ids() : [...selection.ids]).flatMap((id) => observers.index.get(id) ?? []);
  const fitFor = (action: Action) => chosen.filter((one) => allows(one, action)).map(({ id }) => id);

  const run = async (action: Action, ids: string[]) => {
    try {
      const report = await doToMany(action, ids, (id) => observers.index.get(id)?.name ?? id);
      tell(say, action, report);
      if (report.open === undefined) onDone(); // else one may want to ask the others again
    } catch (error) {
      say("refused", `${ACTIONS[action].verb} failed: ${sayFailure(error)}`);
    }
    setAsked(null);
  };

  const chooseWhole = () => {
    setWhole({ selection, filter });
    bar.current?.focus({ preventScroll: true }); // the button goes; what can be done with them is next
  };

  const ids = asked === null ? [] : fitFor(asked);
  const work = asked !== null && isWhole ? wishFor(asked, filter) : undefined;
  return (
    <div
      ref={bar}
      className={css.bar}
      role="group"
      aria-label="Chosen observers"
      data-empty={chosen.length === 0}
      tabIndex={-1}
    >
      <span className="figures" role="status">
        {isWhole
          ? `All ${sayCount(shown)} that match chosen`
          : chosen.length === 0
            ? "None chosen"
            : `${sayMany(chosen.length, "observer")} chosen`}
      </span>
      {canBeWhole && (
        <Button size="compact-sm" variant="light" onClick={chooseWhole}>
          Choose all {sayCount(shown)} that match
        </Button>
      )}
      {OBSERVER_ACTIONS.map((action) => {
        const count = fitFor(action).length;
        if (action === "force-stop" && count === 0) return null;
        // Of all that match each is asked, and the work tells whom it was refused for; but force is for some of them alone.
        const saysCount = count > 0 && count < chosen.length && (!isWhole || action === "force-stop");
        return (
          <ActionButton
            key={action}
            call={isWhole ? "beginWork" : CALLS[action]}
            size="compact-sm"
            variant="default"
            disabled={count === 0}
            onClick={() => setAsked(action)}
          >
            {ACTIONS[action].verb} {saysCount ? count : ""}
          </ActionButton>
        );
      })}
      {asked !== null && work !== undefined && (
        <WorkDialog
          action={asked}
          wish={work}
          count={asked === "force-stop" ? ids.length : shown}
          verb={ACTIONS[asked].verb}
          isDangerous={isDangerous(asked)}
          onClose={() => setAsked(null)}
        >
          <p>{ACTIONS[asked].text}</p>
        </WorkDialog>
      )}
      {asked !== null && !isWhole && (
        <ConfirmDialog
          title={`${ACTIONS[asked].verb} ${sayMany(ids.length, "observer")}?`}
          verb={ACTIONS[asked].verb}
          isDangerous={isDangerous(asked)}
          onConfirm={() => run(asked, ids)}
          onClose={() => setAsked(null)}
        >
          <p>{ACTIONS[asked].text}</p>
          {chosen.length > ids.length && <p>Not possible now for {sayMany(chosen.length - ids.length, "other")}.</p>}
        </ConfirmDialog>
      )}
    </div>
  );
}

function tell(say: (tone: "done" | "refused", text: string) => void, action: Action, report: ActionReport): void {
  if (report.accepted > 0) say("done", `${sayMany(report.accepted, "observer")} ${ACTIONS[action].done}.`);
  for (const [title, { count, remedy, names }] of report.refused) {
    const more = count > names.length ? " …" : "";
    say("refused", `${sayMany(count, "observer")} refused: ${title} (${names.join(", ")}${more}). ${remedy}`);
  }
  const { open } = report;
  if (open !== undefined)
    say("refused", `${ACTIONS[action].verb}: unknown for ${sayMany(open.count, "observer")}. ${sayFailure(open.failure)}`);
}
