import {
  type ObserverFilter,
  parseLabelSelector,
  statusesThat,
  type WorkAct,
  type WorkStatusName,
  type WorkView,
} from "@unacked/contracts";
import { type ListFilter, NO_FILTER, narrows } from "./list-filter.ts";
import type { Action, Tone } from "./statuses.ts";

export const WORK_LOOKS: Record<WorkStatusName, { tone: Tone; sign: string; meaning: string }> = {
  Running: { tone: "wait", sign: "◔", meaning: "a manager does it, step by step" },
  Done: { tone: "good", sign: "✓", meaning: "each that matched was asked" },
  Cancelled: { tone: "over", sign: "○", meaning: "no more of it is done; what was done stays" },
};

export const WORK_VERBS: Record<WorkAct, string> = { stop: "Stop", restart: "Restart", pause: "Pause", resume: "Resume" };

/** `Force stop observers`. */
export const sayWork = ({ act, force }: Pick<WorkView, "act" | "force">): string =>
  act === "stop" && force ? "Force stop observers" : `${WORK_VERBS[act]} observers`;

export const partsOfWork = ({ total, done, failed }: WorkView): { tone: Tone; part: number }[] => [
  { tone: "good", part: total === 0 ? 0 : done / total },
  { tone: "bad", part: total === 0 ? 0 : failed / total },
];

export type Wish = { filter: ObserverFilter } | { all: true };

/** What the list shows, as the manager's own filter; undefined where it shows nothing, as some label is none. */
export function wishOf(filter: ListFilter): Wish | undefined {
  const labels = filter.labels.map(parseLabelSelector);
  if (labels.some((label) => label === undefined)) return undefined;
  if (!narrows(filter)) return { all: true };
  const { type, service, pool, errorGroup, silent, statuses } = filter;
  const q = filter.q.trim();
  return {
    filter: {
      ...(statuses.length > 0 && { status: [...statuses] }),
      ...(type !== "" && { type }),
      ...(service !== "" && { service }),
      ...(pool !== "" && { pool }),
      ...(errorGroup !== "" && { errorGroup }),
      ...(q !== "" && { q }),
      ...(silent !== "" && { silent: true as const }),
      ...(labels.length > 0 && {
        labels: Object.fromEntries(labels.flatMap((label) => (label ? [[label.key, label.value]] : []))),
      }),
    },
  };
}

/** Those that only a stop with force ends. */
const BY_FORCE = statusesThat(({ stop }) => stop === "by-force");

/**
 * What is asked of the managers where all that the list shows are chosen. To them force means also what no other stop ends, and so all:
 * only those are named that need it. Undefined where there are none of them in the list.
 */
export function wishFor(action: Action, filter: ListFilter): Wish | undefined {
  if (action !== "force-stop") return wishOf(filter);
  const asked = filter.statuses;
  const statuses = asked.length === 0 ? BY_FORCE : BY_FORCE.filter((status) => asked.includes(status));
  return statuses.length === 0 ? undefined : wishOf({ ...filter, statuses });
}

/** The other way round: the list of those that match now. */
export function listOfWork({ filter, all }: WorkView): ListFilter {
  if (all) return NO_FILTER;
  const { status = [], labels = {}, silent, ...texts } = filter;
  return {
    ...NO_FILTER,
    ...texts,
    statuses: [status].flat(),
    labels: Object.entries(labels).map(([key, value]) => `${key}=${value}`),
    silent: silent === true ? "true" : "",
  };
}

/** `status Failed, type ticker`. */
export function sayFilter({ filter, all }: WorkView): string {
  if (all) return "all that are not Deleted";
  const { labels = {}, ...rest } = filter;
  const said = Object.entries(rest).map(([key, value]) => `${WORDS[key] ?? key} ${[value].flat().join(" or ")}`);
  return [...said, ...Object.entries(labels).map(([key, value]) => `label ${key}=${value}`)].join(", ");
}

const WORDS: Record<string, string> = { q: "name with", errorGroup: "error" };

export const actOf = (action: Action): { act: WorkAct; force: boolean } =>
  action === "force-stop" ? { act: "stop", force: true } : { act: action, force: false };
