import { cronersFlaw, nextCron } from "./cron.ts";

interface Field {
  name: string;
  least: number;
  most: number;
  /** They name the values from `least` on. */
  names?: readonly string[];
}

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const FIELDS: readonly Field[] = [
  { name: "second", least: 0, most: 59 },
  { name: "minute", least: 0, most: 59 },
  { name: "hour", least: 0, most: 23 },
  { name: "day of month", least: 1, most: 31 },
  { name: "month", least: 1, most: 12, names: MONTHS },
  { name: "day of week", least: 0, most: 7, names: DAYS },
];

/** What is wrong with it; undefined: nothing. */
export function cronFlaw(expression: string, timeZone: string): string | undefined {
  // Nicknames and dates are croner's own; everybody else's cron has fields.
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== 5 && fields.length !== 6)
    return `must have five fields, or six with seconds; it has ${fields.length}`;
  const flaw = cronersFlaw(expression, timeZone);
  if (flaw !== undefined) return fieldFlaw(fields, timeZone) ?? flaw;
  return nextCron(expression, timeZone, 0) === undefined ? "is never due" : undefined;
}

/**
 * As it was written: croner counts months from 0, and some of its fields. Each part of each field is given to croner alone, so that what
 * it takes is never called wrong here.
 *
 * @returns undefined: each part by itself is well
 */
function fieldFlaw(fields: readonly string[], timeZone: string): string | undefined {
  const known = FIELDS.slice(-fields.length);
  for (const [place, text] of fields.entries()) {
    const alone = (part: string): string => known.map((_, i) => (i === place ? part : "*")).join(" ");
    const isRead = (part: string): boolean => cronersFlaw(alone(part), timeZone) === undefined;
    if (isRead(text)) continue;
    const wrong = text.split(",").find((part) => !isRead(part)) ?? text;
    const field = known[place] as Field;
    return `${field.name}: ${whyNot(wrong, field)}`;
  }
  return undefined;
}

/** The last day, the nearest weekday, the nth one: `L-3`, `1-5W`, `MON#6`. */
const MODIFIERS = /#|\dW|^[LW]/i;

function whyNot(part: string, field: Field): string {
  if (part === "") return "there is nothing between two commas, or beside one";
  const [, range = "", step] = /^([^/]*)(?:\/(.*))?$/.exec(part) ?? [];
  const ends = range === "*" ? [] : range.split("-");
  if (MODIFIERS.test(part)) return `${part} cannot be read; a value is ${rangeOf(field)}`;
  const wrong = ends.find((end) => valueOf(end, field) === undefined);
  if (wrong !== undefined) return `${wrong === "" ? part : wrong} is not ${rangeOf(field)}`;
  const [from, to] = ends.map((end) => valueOf(end, field)) as [number?, number?];
  if (from !== undefined && to !== undefined && from > to) return `${part} goes backwards`;
  const steps = field.names?.length ?? field.most - field.least + 1;
  if (step !== undefined && (!/^\d+$/.test(step) || Number(step) < 1 || Number(step) > steps))
    return `${part}: a step is from 1 to ${steps}`;
  if (step !== undefined && ends.length === 1)
    return `${part}: a step is of all (*/${step}) or of a range (${range}-${field.most}/${step})`;
  return `${part} cannot be read; a value is ${rangeOf(field)}`;
}

/** The value that the text stands for; undefined: it is none of this field. */
function valueOf(text: string, { least, most, names = [] }: Field): number | undefined {
  const place = names.indexOf(text.toUpperCase());
  if (place !== -1) return least + place;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
}

const rangeOf = ({ least, most, names }: Field): string =>
  `in ${least} to ${most}${names === undefined ? "" : `, or ${names[0]} to ${names.at(-1)}`}`;
