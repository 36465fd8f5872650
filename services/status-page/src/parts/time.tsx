const SAME_DAY = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const OTHER_DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const TIME_PARTS = { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 } as const;
const SAME_DAY_EXACT = new Intl.DateTimeFormat(undefined, TIME_PARTS);
const OTHER_DAY_EXACT = new Intl.DateTimeFormat(undefined, { day: "2-digit", month: "short", ...TIME_PARTS });

/** Local time, with the date unless it is today's; the exact time in UTC when pointed at. `isExact`: with milliseconds. */
export function Time({ at, isExact = false }: { at: string | number; isExact?: boolean }) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <>–</>;
  const iso = date.toISOString();
  const isToday = date.toDateString() === new Date().toDateString();
  const [sameDay, otherDay] = isExact ? [SAME_DAY_EXACT, OTHER_DAY_EXACT] : [SAME_DAY, OTHER_DAY];
  return (
    <time dateTime={iso} title={`${iso.slice(0, 10)} ${iso.slice(11, 23)} UTC`}>
      {(isToday ? sameDay : otherDay).format(date)}
    </time>
  );
}
