import { useState } from "react";
import { useAnswer } from "../../live/use-answer.ts";
import { useLive, useSignal } from "../../live/use-live.ts";
import { useShownNow } from "../../live/use-now.ts";
import { Blank, Pending } from "../../parts/blank.tsx";
import { Failure } from "../../parts/failure.tsx";
import { sayMany } from "../../parts/say.ts";
import { Unanswered } from "../../parts/unanswered.tsx";
import { Link } from "../../shell/navigation.tsx";
import css from "./errors.module.css";
import { MessageGroup } from "./message-group.tsx";
import { ObserverGroup } from "./observer-group.tsx";

const LOOK_EVERY_MS = 10_000;

/** What went wrong, grouped by what it says: of observers, and of messages that were put aside. */
export default function Errors() {
  const version = useTrouble();
  const [actions, setActions] = useState(0);
  const asked = `${version} ${actions}`;
  const observers = useAnswer("getErrorStats", {}, asked);
  const messages = useAnswer("groupErrors", {}, asked);
  const onDone = () => setActions((count) => count + 1);
  return (
    <>
      <h1>Errors</h1>
      <section aria-labelledby="of-observers" className={css.section} tabIndex={-1}>
        <h2 id="of-observers">Last errors of observers</h2>
        {observers.data === null && observers.failure === null && <Pending label="Reading the errors" height="10rem" />}
        {observers.data === null && observers.failure !== null && (
          <Failure what="The errors of observers" failure={observers.failure} onRetry={observers.reload} />
        )}
        {observers.data !== null && (
          <div className={`panel ${css.list}`}>
            {observers.data.items.length === 0 && (
              <Blank title="No observer has failed">
                <p>
                  When the handler of an observer throws, its error stands here, with all others that say the same. The
                  errors of tasks stand among <Link href="/tasks">Tasks</Link>.
                </p>
              </Blank>
            )}
            {observers.data.items.map((group) => (
              <ObserverGroup key={group.group} group={group} onDone={onDone} />
            ))}
            <More shown={observers.data.items.length} total={observers.data.total} />
          </div>
        )}
      </section>
      <section aria-labelledby="of-messages" className={css.section} tabIndex={-1}>
        <h2 id="of-messages">Messages put aside</h2>
        {messages.data === null && (
          <Unanswered what="The messages" height="10rem" failure={messages.failure} onRetry={messages.reload} />
        )}
        {messages.data !== null && (
          <div className={`panel ${css.list}`}>
            {messages.data.items.length === 0 && (
              <Blank title="None was put aside">
                <p>Messages that cannot be read, and those of observers that were given up, come here with the reason.</p>
              </Blank>
            )}
            {messages.data.items.map((group) => (
              <MessageGroup key={`${group.reason} ${group.group}`} group={group} onDone={onDone} />
            ))}
            <More shown={messages.data.items.length} total={messages.data.total} />
          </div>
        )}
      </section>
    </>
  );
}

/** Changes when observers begin or cease to fail, and now and then: messages that nobody could read change no observer. */
function useTrouble(): string {
  const { stats } = useLive();
  useSignal(stats.changed);
  const nowMs = useShownNow(LOOK_EVERY_MS);
  const byStatus = stats.stats?.observers.byStatus;
  return `${byStatus?.Failed} ${byStatus?.Retrying} ${nowMs}`;
}

function More({ shown, total }: { shown: number; total: number }) {
  return total > shown ? <p className={css.more}>{sayMany(total - shown, "smaller group")} not shown.</p> : null;
}
