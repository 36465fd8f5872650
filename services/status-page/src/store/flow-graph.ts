import { type FlowTaskView, isTaskOver, type TaskStatus } from "@unacked/contracts";
import { TASK_SHOWN } from "./task-looks.ts";

/** How it is drawn: what is done and what goes on stand out from what waits, and from what never ran. */
export type FlowTone = "done" | "runs" | "waits" | "bad" | "over";

const TONES: Record<TaskStatus, FlowTone> = {
  Completed: "done",
  Running: "runs",
  Sent: "waits",
  Ready: "waits",
  Scheduled: "waits",
  Blocked: "waits",
  Failed: "bad",
  Cancelled: "over",
};
export const toneOf = (status: TaskStatus): FlowTone => TONES[status];

/** What is drawn as one: a task; or, of a flow with many, all of one type that are as far from the beginning. */
export interface FlowNode {
  id: string;
  title: string;
  type: string;
  /** The task; null: several. */
  task: FlowTaskView | null;
  /** How many are in each status, in the order in which statuses are shown. */
  counts: { status: TaskStatus; count: number }[];
  tone: FlowTone;
}

export interface FlowGraph {
  nodes: FlowNode[];
  edges: { from: string; to: string }[];
  isGrouped: boolean;
  /** False: to lay it out would take a browser too long. */
  isDrawable: boolean;
}

/** So many are drawn one by one; a picture of more says less. */
export const MOST_DRAWN = 80;

/**
 * What a browser lays out at once. Its time grows with the nodes, and with how many stages arrows pass, faster than these do: measured on a
 * busy machine 0.3 s at 400, 1.1 s at 2,000, 9 s at 17,000.
 */
const MOST_LAID_OUT = 1_000;

/** What is drawn of a flow. */
export function graphOf(tasks: readonly FlowTaskView[]): FlowGraph {
  const isGrouped = tasks.length > MOST_DRAWN;
  const groups = new Map<string, FlowTaskView[]>();
  const groupOf = new Map<string, string>();
  const stages = stagesOf(tasks);
  for (const task of tasks) {
    const id = isGrouped ? `${stages.get(task.ref)} ${task.type}` : task.ref;
    groupOf.set(task.ref, id);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [task]);
    else group.push(task);
  }
  const edges = new Map<string, { from: string; to: string }>();
  let laidOut = groups.size;
  for (const { ref, after } of tasks)
    for (const before of after) {
      const [from, to] = [groupOf.get(before), groupOf.get(ref)];
      if (from === undefined || to === undefined || edges.has(`${from}\n${to}`)) continue;
      edges.set(`${from}\n${to}`, { from, to });
      laidOut += (stages.get(ref) ?? 0) - (stages.get(before) ?? 0);
    }
  const nodes = [...groups].map(([id, group]) => nodeOf(id, group));
  return { nodes, edges: [...edges.values()], isGrouped, isDrawable: laidOut <= MOST_LAID_OUT };
}

/** How many come one after the other before each, at most. Tasks stand after those that they come after in no certain order. */
export function stagesOf(tasks: readonly FlowTaskView[]): Map<string, number> {
  const followers = new Map<string, FlowTaskView[]>();
  const waitsFor = new Map(tasks.map(({ ref, after }) => [ref, after.length]));
  for (const task of tasks)
    for (const before of task.after) {
      const known = followers.get(before);
      if (known === undefined) followers.set(before, [task]);
      else known.push(task);
    }
  const stages = new Map<string, number>();
  const ready = tasks.filter(({ after }) => after.length === 0).map(({ ref }) => ref);
  for (const ref of ready) {
    const stage = stages.get(ref) ?? 0;
    stages.set(ref, stage);
    for (const { ref: next } of followers.get(ref) ?? []) {
      stages.set(next, Math.max(stages.get(next) ?? 0, stage + 1));
      const left = (waitsFor.get(next) ?? 0) - 1;
      waitsFor.set(next, left);
      if (left === 0) ready.push(next);
    }
  }
  return stages;
}

function nodeOf(id: string, group: readonly FlowTaskView[]): FlowNode {
  const [first] = group;
  if (first === undefined) throw new Error("a group of nothing");
  const counts = TASK_SHOWN.map((status) => ({
    status,
    count: group.filter((task) => task.status === status).length,
  })).filter(({ count }) => count > 0);
  const task = group.length === 1 ? first : null;
  return {
    id,
    title: task === null ? `${first.type} × ${group.length}` : first.ref,
    type: first.type,
    task,
    counts,
    tone: toneOfAll(counts),
  };
}

/** What has failed is seen first; then what runs, what waits, and, where all is over, that. */
function toneOfAll(counts: FlowNode["counts"]): FlowTone {
  const tones = new Set(counts.map(({ status }) => toneOf(status)));
  return (["bad", "runs", "waits", "over", "done"] as const).find((tone) => tones.has(tone)) ?? "done";
}

/** In words: `Completed`, or `3 Running, 7 Ready`. */
export const sayCounts = ({ task, counts }: FlowNode): string =>
  task === null ? counts.map(({ status, count }) => `${count} ${status}`).join(", ") : task.status;

export const doneOf = ({ counts }: FlowNode): number =>
  counts.filter(({ status }) => isTaskOver(status)).reduce((sum, { count }) => sum + count, 0);
