import { useShownNow } from "../live/use-now.ts";
import { sayAge } from "./say.ts";
import css from "./time.module.css";

const SAME_DAY = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const OTHER_DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const TIME_PARTS = { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 } as const;
const SAME_DAY_EXACT = new Intl.DateTimeFormat(undefined, TIME_PARTS);
const OTHER_DAY_EXACT = new Intl.DateTimeFormat(undefined, { day: "2-digit", month: "short", ...TIME_PARTS });

interface Props {
  at: string | number;
  /** With milliseconds. */
  isExact?: boolean;
  /** Without how long ago that was, or how far off it is: where that is said beside it anyway. */
  isBare?: boolean;
}

/** Local time, with the date unless it is today's, and its age; the exact time in UTC when pointed at. */
export function Time({ at, isExact = false, isBare = false }: Props) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <>–</>;
  const iso = date.toISOString();
  const isToday = date.toDateString() === new Date().toDateString();
  const [sameDay, otherDay] = isExact ? [SAME_DAY_EXACT, OTHER_DAY_EXACT] : [SAME_DAY, OTHER_DAY];
  return (
    <>
      <time dateTime={iso} title={`${iso.slice(0, 10)} ${iso.slice(11, 23)} UTC`}>
        {(isToday ? sameDay : otherDay).format(date)}
      </time>
      {!isBare && <Age ofMs={date.getTime()} />}
    </>
  );
}

/** What is shown is as of the last full second, and clocks differ a little: what has just been is not still to come. */
const JUST_NOW_MS = 1_500;

function Age({ ofMs }: { ofMs: number }) {
  const shownAgoMs = useShownNow(1_000) - ofMs;
  const agoMs = shownAgoMs > -JUST_NOW_MS ? Math.max(0, shownAgoMs) : shownAgoMs;
  return <span className={css.age}> {agoMs >= 0 ? `${sayAge(agoMs)} ago` : `in ${sayAge(-agoMs)}`}</span>;
}
