const SAME_DAY = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const OTHER_DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** Local time, with the date unless it is today's; the exact time in UTC when pointed at. */
export function Time({ at }: { at: string | number }) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <>–</>;
  const iso = date.toISOString();
  const isToday = date.toDateString() === new Date().toDateString();
  return (
    <time dateTime={iso} title={`${iso.slice(0, 10)} ${iso.slice(11, 23)} UTC`}>
      {(isToday ? SAME_DAY : OTHER_DAY).format(date)}
    </time>
  );
}
