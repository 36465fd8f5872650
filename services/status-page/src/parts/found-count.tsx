import { useState } from "react";
import type { Answered } from "../live/use-answer.ts";
import css from "./found-count.module.css";
import { sayCount } from "./say.ts";

interface Props {
  shown: number;
  of: { total: number; isTotalExact: boolean };
  /** That these stand in. */
  answer: Pick<Answered<unknown>, "question" | "isTurning">;
}

/**
 * How many of those that match are shown. Read out where somebody has asked for something else, and not as it changes by itself, which it may
 * do every two seconds. Nothing where there are none: the blank says so.
 */
export function FoundCount({ shown, of: { total, isTotalExact }, answer: { question, isTurning } }: Props) {
  const text = total === 0 ? "" : `${sayCount(shown)} of ${isTotalExact ? "" : "more than "}${sayCount(total)}`;
  const [said, setSaid] = useState({ question, text, isAsked: true });
  let now = said;
  if (question !== said.question) now = { question, text, isAsked: true };
  else if (text !== said.text && !isTurning) now = { question, text, isAsked: false };
  if (now !== said) setSaid(now);
  return (
    <p className={css.count} role={now.isAsked ? "status" : undefined}>
      {now.text}
    </p>
  );
}
