import { useShownNow } from "../live/use-now.ts";
import { useToday } from "../live/use-today.ts";
import { sayAgo, sayAway } from "./say.ts";
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
  /** It may lie ahead. What has happened does not, even by a clock that is behind the manager's. */
  mayCome?: boolean;
}

/** Local time, with the date unless it is today's, and its age; the exact time in UTC when pointed at. */
export function Time({ at, isExact = false, isBare = false, mayCome = false }: Props) {
  const today = useToday();
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <>–</>;
  const iso = date.toISOString();
  const isToday = date.toDateString() === today;
  const [sameDay, otherDay] = isExact ? [SAME_DAY_EXACT, OTHER_DAY_EXACT] : [SAME_DAY, OTHER_DAY];
  return (
    <>
      <time dateTime={iso} title={`${iso.slice(0, 10)} ${iso.slice(11, 23)} UTC`}>
        {(isToday ? sameDay : otherDay).format(date)}
      </time>
      {!isBare && <Age ofMs={date.getTime()} mayCome={mayCome} />}
    </>
  );
}

function Age({ ofMs, mayCome }: { ofMs: number; mayCome: boolean }) {
  const agoMs = useShownNow(1_000) - ofMs;
  return <span className={css.age}> {mayCome ? sayAway(-agoMs) : sayAgo(agoMs)}</span>;
}
