import { OBSERVER_STATUSES } from "@unacked/contracts";
import { FILTER_KEYS_OF, RERUN_FILTER_KEYS, TASK_CHANGE_FILTER_KEYS } from "../input/filters.ts";
import { findKind, KINDS, type Kind } from "../input/kinds.ts";
import type { ArgumentRule, CompletionRules } from "./candidates.ts";
import { SHELLS } from "./scripts.ts";

const observers: ArgumentRule = () => ({ words: [], names: "observers" });
const oneObserver: ArgumentRule = (before) => ({ words: [], ...(before.length === 0 && { names: "observers" as const }) });
const oneService: ArgumentRule = (before) => ({ words: [], ...(before.length === 0 && { names: "services" as const }) });
const contexts: ArgumentRule = (before) => ({ words: [], ...(before.length === 0 && { names: "contexts" as const }) });

const afterKind = (before: string[]): ReturnType<ArgumentRule> => {
  const kind = findKind(before[0] ?? "");
  if (kind === "services" || kind === "types") return { words: [], names: kind };
  return { words: [], ...((kind === "observers" || kind === "runs") && { names: "observers" as const }) };
};

const kindAndNames: ArgumentRule = (before) => (before.length === 0 ? { words: KINDS } : afterKind(before));

const filtersOf = (kind: Kind | undefined): ReturnType<ArgumentRule> => ({
  words: (FILTER_KEYS_OF[kind ?? "observers"] ?? []).map((key) => `${key}=`),
});
const filtersOfKind: ArgumentRule = ([word = ""]) => filtersOf(findKind(word));
const filtersBy = (keys: readonly string[]): ArgumentRule => {
  const words = keys.map((key) => `${key}=`);
  return () => ({ words });
};

/** What may stand where. Commands and options themselves are read from the program. */
export const COMPLETION_RULES: CompletionRules = {
  arguments: {
    get: kindAndNames,
    ls: kindAndNames,
    list: kindAndNames,
    describe: (before) => (before.length === 0 ? { words: ["service"], names: "observers" } : afterKind(before)),
    create: (before) => ({ words: [], ...(before.length === 0 && { names: "types" as const }) }),
    change: oneObserver,
    edit: oneObserver,
    timeline: oneObserver,
    stop: observers,
    restart: observers,
    pause: observers,
    resume: observers,
    "checkpoint get": oneObserver,
    "checkpoint set": oneObserver,
    "checkpoint reset": oneObserver,
    drain: oneService,
    cordon: oneService,
    uncordon: oneService,
    reload: oneService,
    move: observers,
    logs: oneObserver,
    watch: observers,
    wait: observers,
    delete: (before) =>
      before.length === 0 ? { words: ["observers", "errors", "timers", "schedules"] } : afterKind(before),
    "config use-context": contexts,
    "config set-context": contexts,
    "config delete-context": contexts,
    completion: () => ({ words: [...SHELLS] }),
  },
  optionValues: {
    "--for": () => ({ words: [...OBSERVER_STATUSES] }),
    "--filter": () => filtersOf("observers"),
    "get --filter": filtersOfKind,
    "ls --filter": filtersOfKind,
    "list --filter": filtersOfKind,
    "cancel --filter": filtersBy(TASK_CHANGE_FILTER_KEYS),
    "rerun --filter": filtersBy(RERUN_FILTER_KEYS),
    "--filename": () => ({ words: [], names: "files" }),
    "--param": () => ({ words: [], names: "params" }),
    "--context": () => ({ words: [], names: "contexts" }),
  },
};
