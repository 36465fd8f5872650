import { Button } from "@mantine/core";
import type { ErrorGroup, QueryOf } from "@unacked/contracts";
import { useState } from "react";
import { useAnswer } from "../../live/use-answer.ts";
import { sayCount, sayMany } from "../../parts/say.ts";
import { Unanswered } from "../../parts/unanswered.tsx";
import css from "./group.module.css";
import { Message } from "./message.tsx";
import { Seen } from "./seen.tsx";

const SHOWN = 50;

const REASONS: Record<string, string> = {
  unreadable: "could not be read",
  "refused-by-database": "the database refused it",
  "retries-used-up": "attempts used up",
  "bad-params": "params refused",
  "unknown-observer": "of no known observer",
  "lost-in-failover": "lost as the database failed over",
};

/** Messages of `unacked.error` that say the same; the messages themselves are asked for when it is opened. */
export function MessageGroup({ group, onDone }: { group: ErrorGroup; onDone: () => void }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <article className={css.group} aria-label={group.group} tabIndex={-1}>
      <p className={css.what}>
        <span className={css.reason}>{REASONS[group.reason] ?? group.reason}</span> {group.group}
      </p>
      <p className={css.facts}>
        <span>{sayMany(group.count, "message")}</span>
        <Seen first={group.firstSeenAt} last={group.lastSeenAt} />
      </p>
      <div className={css.actions}>
        <Button size="compact-sm" variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Hide" : "Show"} {group.count === 1 ? "it" : "them"}
        </Button>
      </div>
      {isOpen && <Messages group={group} onDone={onDone} />}
    </article>
  );
}

function Messages({ group, onDone }: { group: ErrorGroup; onDone: () => void }) {
  const query = { reason: group.reason as NonNullable<QueryOf<"listErrors">["reason"]>, group: group.group, limit: SHOWN };
  const { data, failure, reload } = useAnswer("listErrors", { query }, `${group.count} ${group.exampleId}`);
  if (data === null) return <Unanswered what="The messages" height="6rem" failure={failure} onRetry={reload} />;
  return (
    <ul className={css.messages}>
      {data.items.map((entry) => (
        <Message key={entry.id} entry={entry} onDone={onDone} />
      ))}
      {data.total > data.items.length && <li>{sayCount(data.total - data.items.length)} older are not shown.</li>}
    </ul>
  );
}
