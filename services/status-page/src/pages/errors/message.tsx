import type { ErrorEntry } from "@unacked/contracts";
import { useRef } from "react";
import { useLive, useSignal } from "../../live/use-live.ts";
import { ActionButton } from "../../parts/action-button.tsx";
import { sayBytes } from "../../parts/say.ts";
import { Time } from "../../parts/time.tsx";
import { useAction } from "../../parts/use-action.ts";
import { useStay } from "../../parts/use-stay.ts";
import { Link } from "../../shell/navigation.tsx";
import { addressOfObserver } from "../../shell/route.ts";
import { call } from "../../wire/call.ts";
import css from "./group.module.css";
import { useFocusOnward } from "./use-focus-onward.ts";

/** One message: what was wrong with it, what it was, and what can be done. */
export function Message({ entry, onDone }: { entry: ErrorEntry; onDone: () => void }) {
  const { observers } = useLive();
  useSignal(observers.changed);
  const { isBusy, run } = useAction(onDone);
  const item = useRef<HTMLLIElement>(null);
  useFocusOnward(item);
  const row = observers.index.get(entry.observerId ?? "");
  const hasFailed = row?.status === "Failed";
  const { isDrawn, stay } = useStay(hasFailed);
  const retry = () =>
    run(async () => {
      const { name } = await call("retryError", { path: { errorId: entry.id } });
      return `${name} is being restarted.`;
    });
  const remove = () =>
    run(async () => {
      await call("deleteError", { path: { errorId: entry.id } });
      return "The message was removed.";
    });
  return (
    <li ref={item} className={css.message} tabIndex={-1}>
      <p className={css.facts}>
        <Time at={entry.at} />
        {entry.observerId !== null && (
          <Link href={addressOfObserver(entry.observerId)}>{row?.name ?? entry.observerId}</Link>
        )}
        <span>from {entry.queue}</span>
        <span>{sayBytes(entry.bodyBytes)}</span>
      </p>
      <pre className={css.detail}>{entry.detail}</pre>
      <details>
        <summary>The message</summary>
        {/* Focusable, as a long one scrolls. */}
        <pre className={css.body} tabIndex={0} aria-label="The message's body">
          {entry.body}
        </pre>
      </details>
      <div className={css.actions}>
        {isDrawn && (
          <ActionButton
            call="retryError"
            size="compact-sm"
            variant="default"
            {...stay}
            isBusy={isBusy || !hasFailed}
            onClick={retry}
          >
            Retry
          </ActionButton>
        )}
        <ActionButton call="deleteError" size="compact-sm" variant="default" isBusy={isBusy} onClick={remove}>
          Remove
        </ActionButton>
      </div>
    </li>
  );
}
