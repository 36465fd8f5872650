import { usageFailure } from "../failure.ts";

/** The kinds of things, with the names that commands accept for them. */
const NAMES = {
  observers: ["observers", "observer", "obs"],
  services: ["services", "service", "svc"],
  tasks: ["tasks", "task"],
  "task-types": ["task-types", "task-type", "limits"],
  "task-figures": ["task-figures", "figures"],
  "task-failures": ["task-failures", "task-failure"],
  flows: ["flows", "flow"],
  timers: ["timers", "timer"],
  schedules: ["schedules", "schedule"],
  occurrences: ["occurrences", "occurrence"],
  runs: ["runs", "run"],
  errors: ["errors", "error", "err"],
  failures: ["failures", "failure", "fail"],
  types: ["types", "type"],
  audit: ["audit"],
} as const;

export type Kind = keyof typeof NAMES;
export const KINDS = Object.keys(NAMES) as Kind[];

export const findKind = (word: string): Kind | undefined =>
  KINDS.find((kind) => (NAMES[kind] as readonly string[]).includes(word.toLowerCase()));

export function toKind(word: string): Kind {
  const kind = findKind(word);
  if (kind !== undefined) return kind;
  throw usageFailure(`There is no kind "${word}"`, `They are ${KINDS.map((each) => NAMES[each].join("|")).join(", ")}.`);
}
