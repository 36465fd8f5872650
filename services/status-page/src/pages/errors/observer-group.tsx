import type { ObserverErrorGroup } from "@unacked/contracts";
import { useRef } from "react";
import { ActionButton } from "../../parts/action-button.tsx";
import { sayCount, sayMany } from "../../parts/say.ts";
import { useAction } from "../../parts/use-action.ts";
import { useStay } from "../../parts/use-stay.ts";
import { Link } from "../../shell/navigation.tsx";
import { addressOfObserver } from "../../shell/route.ts";
import { STATUSES } from "../../store/statuses.ts";
import { call } from "../../wire/call.ts";
import css from "./group.module.css";
import { Seen } from "./seen.tsx";
import { useFocusOnward } from "./use-focus-onward.ts";

/** Observers whose last error says the same. Those that were given up can be restarted together. */
export function ObserverGroup({ group, onDone }: { group: ObserverErrorGroup; onDone: () => void }) {
  const { isBusy, run } = useAction(onDone);
  const failed = group.byStatus.Failed;
  const { isDrawn, stay } = useStay(failed > 0);
  const article = useRef<HTMLElement>(null);
  useFocusOnward(article);
  const restart = () =>
    run(async () => {
      const body = { filter: { errorGroup: group.group, status: "Failed" as const } };
      const answer = await call("restartObservers", { body });
      if ("results" in answer) throw new Error("the manager listed what was to be counted");
      const { accepted, matched } = answer;
      const rest = matched > accepted ? `; ${sayCount(matched - accepted)} could not be` : "";
      return `${sayMany(accepted, "observer")} being restarted${rest}.`;
    });
  const counts = STATUSES.filter((status) => group.byStatus[status] > 0).map(
    (status) => `${sayCount(group.byStatus[status])} ${status}`,
  );
  return (
    <article ref={article} className={css.group} aria-label={group.group} tabIndex={-1}>
      <p className={css.what}>{group.group}</p>
      <p className={css.facts}>
        <span>
          <Link href={`/observers?errorGroup=${encodeURIComponent(group.group)}`}>{sayMany(group.total, "observer")}</Link>:{" "}
          {counts.join(", ")}
        </span>
        <Seen first={group.firstSeenAt} last={group.lastSeenAt} />
        <span>
          newest: <Link href={addressOfObserver(group.example.id)}>{group.example.name}</Link>
        </span>
      </p>
      {isDrawn && (
        <div className={css.actions}>
          <ActionButton
            call="restartObservers"
            size="compact-sm"
            variant="default"
            {...stay}
            isBusy={isBusy || failed === 0}
            onClick={restart}
          >
            {failed === 0 ? "None is Failed any more" : `Restart the ${sayCount(failed)} that failed`}
          </ActionButton>
        </div>
      )}
    </article>
  );
}
