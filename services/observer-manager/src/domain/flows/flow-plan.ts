import {
  type CreateFlow,
  type FieldProblem,
  FlowRef,
  type FlowTask,
  MAX_FLOW_EDGES,
  MAX_FLOW_INPUT_BYTES,
} from "@unacked/contracts";
import { circleIn } from "./circle.ts";

/**
 * Makes tasks of stages, each after the one before. A type that stands twice is `fetch`, `fetch-2`, or the next that no other stage has.
 */
export function tasksOf({ tasks, stages = [] }: CreateFlow): FlowTask[] {
  if (tasks !== undefined) return tasks;
  const given: Stage[] = stages.map((stage) => (typeof stage === "string" ? { ...DEFAULTS, type: stage } : stage));
  const taken = new Set(given.flatMap(({ ref }) => ref ?? []));
  const counts = new Map<string, number>();
  let before: string[] = [];
  return given.map((stage) => {
    const { ref = nextRef(stage.type, taken, counts), ...rest } = stage;
    const task = { ...rest, ref, after: before };
    before = [ref];
    return task;
  });
}

type Stage = Exclude<NonNullable<CreateFlow["stages"]>[number], string>;

const DEFAULTS = {
  params: {},
  pool: "default",
  priority: 0,
  onFailure: "fail",
  maxOutputBytes: 65_536,
} as const satisfies Partial<FlowTask>;

/** @param counts how far each type has come: thousands may be of one */
function nextRef(type: string, taken: Set<string>, counts: Map<string, number>): string {
  let count = counts.get(type) ?? 0;
  let ref: string;
  do {
    count += 1;
    ref = count === 1 ? type : `${type}-${count}`;
  } while (taken.has(ref));
  counts.set(type, count);
  taken.add(ref);
  return ref;
}

/** What is wrong with the tasks, with its place; at most MOST of all. */
export function planFlaws(tasks: readonly FlowTask[], list: "tasks" | "stages"): FieldProblem[] {
  const places = new Map<string, number>();
  const flaws: FieldProblem[] = [];
  tasks.forEach(({ ref }, place) => {
    const first = places.get(ref);
    // A stage without a ref was given its type's name, which may be no ref, or be one no more with a number behind it.
    if (!FlowRef.safeParse(ref).success)
      flaws.push(flaw(`/${list}/${place}`, `"${ref}" cannot be a ref: give it a shorter one, or another`));
    else if (first === undefined) places.set(ref, place);
    else flaws.push(flaw(`/${list}/${place}/ref`, `"${ref}" is that of /${list}/${first} already`));
  });
  if (flaws.length > 0) return flaws.slice(0, MOST); // which one an `after` means nobody could say
  // This comes first, as each of millions might be a flaw of its own.
  const tooMany = edgeFlaws(tasks);
  if (tooMany.length > 0) return tooMany;
  tasks.forEach(({ ref, after }, place) => {
    const seen = new Set<string>();
    after.forEach((before, i) => {
      const pointer = `/tasks/${place}/after/${i}`;
      if (before === ref) flaws.push(flaw(pointer, `"${ref}" cannot come after itself`));
      else if (!places.has(before)) flaws.push(flaw(pointer, `there is no task "${before}" in this flow`));
      else if (seen.has(before)) flaws.push(flaw(pointer, `"${before}" stands here twice`));
      seen.add(before);
    });
  });
  if (flaws.length > 0) return flaws.slice(0, MOST);
  return [...circleFlaws(tasks, places), ...inputFlaws(tasks)].slice(0, MOST);
}

const MOST = 20;

const flaw = (pointer: string, message: string): FieldProblem => ({ pointer, message });

function edgeFlaws(tasks: readonly FlowTask[]): FieldProblem[] {
  const edges = tasks.reduce((sum, { after }) => sum + after.length, 0);
  if (edges <= MAX_FLOW_EDGES) return [];
  return [flaw("/tasks", `all \`after\` together have ${edges} refs; ${MAX_FLOW_EDGES} may be`)];
}

function circleFlaws(tasks: readonly FlowTask[], places: ReadonlyMap<string, number>): FieldProblem[] {
  const circle = circleIn(tasks);
  if (circle === undefined) return [];
  const placeOf = (ref: string): number => places.get(ref) ?? 0;
  const first = circle.reduce((least, ref) => (placeOf(ref) < placeOf(least) ? ref : least));
  const begin = circle.indexOf(first);
  const path = shortened([...circle.slice(begin), ...circle.slice(0, begin), first]);
  return [flaw(`/tasks/${placeOf(first)}/after`, `a circle: ${path.join(" → ")}`)];
}

/** Keeps the begin and the end of a long path. */
const shortened = (path: string[]): string[] =>
  path.length <= 20 ? path : [...path.slice(0, 10), `… ${path.length - 19} more …`, ...path.slice(-9)];

/** The results that a task is given travel in its message, so they are limited together. */
function inputFlaws(tasks: readonly FlowTask[]): FieldProblem[] {
  const bytes = new Map(tasks.map(({ ref, maxOutputBytes }) => [ref, maxOutputBytes]));
  return tasks.flatMap(({ ref, after }, place) => {
    const sum = after.reduce((total, before) => total + (bytes.get(before) ?? 0), 0);
    if (sum <= MAX_FLOW_INPUT_BYTES) return [];
    const most = Math.floor(MAX_FLOW_INPUT_BYTES / after.length);
    const message = `the results of the ${after.length} tasks that "${ref}" comes after may have ${sum} bytes together, and ${MAX_FLOW_INPUT_BYTES} may be: set maxOutputBytes of these to ${most}, or less`;
    return [flaw(`/tasks/${place}/after`, message)];
  });
}
