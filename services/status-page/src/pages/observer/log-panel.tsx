import { Button } from "@mantine/core";
import { memo, type UIEvent, useLayoutEffect, useRef } from "react";
import type { FollowedTail } from "../../live/use-log-tail.ts";
import { Blank, Pending } from "../../parts/blank.tsx";
import { sayCount, sayMany } from "../../parts/say.ts";
import { Stack } from "../../parts/stack.tsx";
import { Time } from "../../parts/time.tsx";
import type { TailItem } from "../../store/log-tail.ts";
import css from "./log-panel.module.css";
import { fieldsText, stateOf } from "./said.ts";
import type { Paused } from "./use-pause.ts";

/** So near to the end one means the end. */
const AT_END_PX = 24;

/** What it logs, as it logs it. The end stays in sight for as long as one is there. */
export function LogPanel({ followed, paused }: { followed: FollowedTail; paused: Paused }) {
  const { shown, isPaused, more, toggle } = paused;
  const { box, onScroll, toEnd } = useStickToEnd(shown.items);
  const state = stateOf(followed);
  return (
    <section aria-labelledby="log-title">
      <div className={css.head}>
        <h2 id="log-title">Log</h2>
        <span className={css.state} data-tone={isPaused ? "wait" : state.tone} role="status">
          {isPaused ? "Paused" : state.title}
        </span>
        <div className={css.buttons}>
          <Button size="compact-sm" variant="default" onClick={toEnd}>
            To the end
          </Button>
          <Button size="compact-sm" variant="default" className={css.pause} onClick={toggle}>
            {!isPaused ? "Pause" : more === 0 ? "Follow" : `Follow: ${sayCount(more)} new`}
          </Button>
        </div>
      </div>
      {/* Focusable, as it scrolls. Not read out as it comes: it may be much. */}
      <div
        ref={box}
        className={`panel ${css.box}`}
        data-over={followed.tail.state.phase === "over"}
        role="log"
        aria-live="off"
        aria-labelledby="log-title"
        tabIndex={0}
        onScroll={onScroll}
      >
        {shown.items.length === 0 ? <NoLines followed={followed} /> : <Lines items={shown.items} />}
      </div>
    </section>
  );
}

function NoLines({ followed }: { followed: FollowedTail }) {
  const { title, text } = stateOf(followed);
  const { phase } = followed.tail.state;
  if (followed.failure === null && phase === "asking") return <Pending label="Asking its service" height="100%" />;
  const isSilent = followed.failure === null && phase === "telling";
  return (
    <div className={css.none}>
      <Blank title={isSilent ? "It has logged nothing" : title}>
        <p>{isSilent ? "What its handler logs stands here, from its service's LOG_LEVEL on." : text}</p>
      </Blank>
    </div>
  );
}

const Lines = memo(({ items }: { items: readonly TailItem[] }) => (
  <ol className={css.lines}>
    {items.map((item) => (
      <Item key={item.key} item={item} />
    ))}
  </ol>
));

const Item = memo(({ item }: { item: TailItem }) => {
  switch (item.kind) {
    case "line": {
      const { at, level, message, stack, cut } = item.line;
      return (
        <li className={css.line} data-level={level}>
          <Time at={at} isExact isBare />
          <span className={css.level}>{level}</span>
          <span className={css.text}>
            {message} <span className={css.fields}>{fieldsText(item.line)}</span>
            {cut && <span className={css.cut}> (longer than its service keeps)</span>}
            <Stack of={message} stack={stack} />
          </span>
        </li>
      );
    }
    case "run":
      return <li className={css.notice}>From here on its next run, on {item.run.service.name}</li>;
    case "omitted":
      return <li className={css.notice}>{sayMany(item.count, "line or value", "lines or values")} not kept any more</li>;
    default:
      return item satisfies never;
  }
});

/** Keeps the end in sight for a reader who is at it, and leaves one who has scrolled up where they are. */
function useStickToEnd(items: unknown) {
  const box = useRef<HTMLDivElement>(null);
  const isStuck = useRef(true);
  const widthPx = useRef(0);
  const toEnd = () => box.current?.scrollTo({ top: box.current.scrollHeight });
  useLayoutEffect(() => {
    if (isStuck.current) toEnd();
    widthPx.current = box.current?.clientWidth ?? 0;
  }, [items]);
  const onScroll = ({ currentTarget: { scrollTop, clientHeight, scrollHeight, clientWidth } }: UIEvent) => {
    const isResized = clientWidth !== widthPx.current;
    widthPx.current = clientWidth;
    if (isResized && isStuck.current) return toEnd(); // line breaks have moved: nobody has scrolled
    isStuck.current = scrollTop + clientHeight >= scrollHeight - AT_END_PX;
  };
  return { box, onScroll, toEnd };
}
