import { OBSERVER_STATUSES, PENDING } from "../../libs/contracts/dist/index.js";
import {
  decide,
  OBSERVER_INPUTS,
  PENDING_MACHINE,
} from "../../services/observer-manager/dist/domain/observers/observer-machine.js";

/** What stands behind a status in a cell. */
const PENDING_WORDS = { pause: "pausing", update: "updating" };

/**
 * Of every input: `tsc` finds the one that is missing.
 *
 * @type {Record<import("../../services/observer-manager/dist/domain/observers/observer-machine.js").ObserverInput, string>}
 */
const INPUTS = {
  "run-requested": "a run asks whether its handler may start",
  "run-current": "a run has become the observer's own",
  "run-retrying": "its handler threw and waits, still unacked",
  "run-stopped": "the run was stopped, and its message is acked",
  "run-failed": "it has failed for good, and its message is acked",
  "run-completed": "its handler has returned, and its message is acked",
  "run-lost": "the run ended without the observer being over; the broker has its message",
  "start-refused": "a service remembered a stop of this revision and acked the message",
  "type-unknown": "a service does not know the type and acked the message",
  absent: "proven that neither the broker nor a service has it",
  delete: "a client wants it to be over",
  "delete-asking": "the same, while a run of it asks whether it may start: somebody has it, and can be told",
  "force-delete": "the same, and nobody needs to have it",
  restart: "a client wants it to begin again",
  pause: "a client, or a schedule, wants it to rest",
  resume: "and to go on",
  "resume-early": "a resumption before its time to start (`startAt`) has come",
  "resume-changed": "a resumption, while the pause is under way, of what was changed since",
  update: "what its handler is given was changed, and it has to begin again for that",
  "tell-update": "the same, of what its run is told of and takes as it goes on",
  "start-due": "its time to start has come, and there is a worker for it, or it need not have one",
};

/** @type {Record<import("../../services/observer-manager/dist/domain/observers/observer-machine.js").ObserverAction, string>} */
const ACTIONS = {
  "send-start": "a new message with revision + 1",
  "send-start-later": "the same after a pause",
  "send-stop": "a stop to all services, again until it is answered",
  "stop-run": "a stop to that run alone",
  "restart-run": "to that run: it begins again in place",
  "tell-run": "to the current run: what is wanted of it, again until it is answered",
  admit: "to the run that asks: its handler may start, again until it is heard",
  forget: "nothing more is to be sent",
  abandon: "the same, and its message stays where it stands",
  "forget-stop": "the stop is not said again; who has heard it may follow it still",
};

/** The table of an observer's states, with a picture of it, from the machine itself. */
export function stateMachinePage() {
  return `# The states of an observer

The machine is one table in
[\`observer-machine.ts\`](../services/observer-manager/src/domain/observers/observer-machine.ts): every cell is decided. Which run an
event may speak for is decided before, in [\`current-run.ts\`](../services/observer-manager/src/domain/observers/current-run.ts)
and [\`run-events.ts\`](../services/observer-manager/src/domain/observers/run-events.ts).

${diagram()}

| input | ${OBSERVER_STATUSES.join(" | ")} |
| --- |${OBSERVER_STATUSES.map(() => " --- |").join("")}
${OBSERVER_INPUTS.map((input) => `| \`${input}\` | ${OBSERVER_STATUSES.map((status) => cell(status, input)).join(" | ")} |`).join("\n")}

While a pause is under way, which stands as \`pending: "pause"\` beside the status ([decision 15](decisions/0015-pause.md)):

${pendingTable("pause")}

While an update is under way, \`pending: "update"\` ([decision 19](decisions/0019-changed-observers.md)):

${pendingTable("update")}

In a cell: the next status and, after the colon, what is sent; · means that nothing changes; a 409 problem is in quotes. With
\`+ pausing\` or \`+ updating\` the status stays, or is that one, while that is under way.

Inputs:

${OBSERVER_INPUTS.map((input) => `- \`${input}\`: ${INPUTS[input]}`).join("\n")}

What is sent:

${Object.entries(ACTIONS)
  .map(([action, words]) => `- \`${action}\`: ${words}`)
  .join("\n")}
`;
}

/** @param {import("../../libs/contracts/dist/index.js").Pending} pending */
function pendingTable(pending) {
  const statuses = statusesBeside(pending);
  return `| input | ${statuses.join(" | ")} |
| --- |${statuses.map(() => " --- |").join("")}
${OBSERVER_INPUTS.map((input) => `| \`${input}\` | ${statuses.map((status) => cell(status, input, pending)).join(" | ")} |`).join("\n")}`;
}

/** @param {import("../../libs/contracts/dist/index.js").Pending} pending */
function statusesBeside(pending) {
  return /** @type {import("../../libs/contracts/dist/index.js").ObserverStatus[]} */ (
    Object.keys(PENDING_MACHINE[pending])
  );
}

function diagram() {
  const arrows = new Map();
  for (const [from, pending] of standings()) {
    for (const input of OBSERVER_INPUTS) {
      const decision = decide(from, input, pending);
      if (decision.kind !== "go" || decision.to === from) continue;
      const key = `${from} --> ${decision.to}`;
      const known = arrows.get(key) ?? [];
      if (!known.includes(input)) arrows.set(key, [...known, input]);
    }
  }
  const lines = [...arrows].map(([arrow, inputs]) => `  ${arrow}: ${inputs.join(", ")}`);
  const begins = ["  [*] --> Created: create", "  [*] --> Scheduled: create with a later startAt"];
  return ["```mermaid", "stateDiagram-v2", ...begins, ...lines, "  Deleted --> [*]", "```"].join("\n");
}

/** Each status, and behind them those beside which something may be under way. */
function standings() {
  return [
    ...OBSERVER_STATUSES.map((status) => /** @type {const} */ ([status, null])),
    ...PENDING.flatMap((pending) => statusesBeside(pending).map((status) => /** @type {const} */ ([status, pending]))),
  ];
}

/**
 * @param {import("../../libs/contracts/dist/index.js").ObserverStatus} status @param {(typeof OBSERVER_INPUTS)[number]} input
 * @param {import("../../libs/contracts/dist/index.js").Pending | null} [pending]
 */
function cell(status, input, pending = null) {
  const decision = decide(status, input, pending);
  if (decision.kind === "refuse") return `"${decision.problem}"`;
  const actions = decision.actions.length > 0 ? `: ${decision.actions.join(", ")}` : "";
  if (decision.kind === "ignore") return actions === "" ? "·" : `·${actions}`;
  const beside = decision.pending === null ? "" : ` + ${PENDING_WORDS[decision.pending]}`;
  return `${decision.to}${beside}${actions}`;
}
