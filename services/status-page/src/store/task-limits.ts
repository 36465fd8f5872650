import type { ChangeTaskType, TaskTypeView } from "@unacked/contracts";

/** The limits of a type as a form has them: numbers as they were typed, empty for none. */
export interface LimitForm {
  paused: boolean;
  maxRunning: string;
  minRunning: string;
  ratePerSecond: string;
}

export const formOf = ({ paused, maxRunning, minRunning, ratePerSecond }: TaskTypeView): LimitForm => ({
  paused,
  maxRunning: maxRunning === null ? "" : String(maxRunning),
  minRunning: minRunning === 0 ? "" : String(minRunning),
  ratePerSecond: ratePerSecond === null ? "" : String(ratePerSecond),
});

const wholeNumber = /^\d{1,9}$/;

/** What is wrong with each field, for whoever typed it; the manager has the last word. */
export function flawsOf({ maxRunning, minRunning, ratePerSecond }: LimitForm): Partial<Record<keyof LimitForm, string>> {
  const flaws: ReturnType<typeof flawsOf> = {};
  for (const [name, value] of Object.entries({ maxRunning, ratePerSecond }))
    if (value !== "" && (!wholeNumber.test(value) || Number(value) < 1))
      flaws[name as keyof LimitForm] = "a whole number from 1, or nothing";
  if (minRunning !== "" && !wholeNumber.test(minRunning)) flaws.minRunning = "a whole number, or nothing";
  if (flaws.maxRunning === undefined && flaws.minRunning === undefined && maxRunning !== "")
    if (Number(minRunning) > Number(maxRunning)) flaws.minRunning = "no more than may run at once";
  return flaws;
}

/** Only what differs, so that what somebody else changes meanwhile stays; null: nothing does. */
export function changeOf(before: TaskTypeView, form: LimitForm): ChangeTaskType | null {
  const after = {
    paused: form.paused,
    maxRunning: form.maxRunning === "" ? null : Number(form.maxRunning),
    minRunning: Number(form.minRunning),
    ratePerSecond: form.ratePerSecond === "" ? null : Number(form.ratePerSecond),
  };
  const changed = Object.entries(after).filter(([name, value]) => before[name as keyof typeof after] !== value);
  return changed.length === 0 ? null : Object.fromEntries(changed);
}
