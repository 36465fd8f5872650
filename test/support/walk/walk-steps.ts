import type { WorkAct } from "@unacked/contracts";
import fc from "fast-check";

/**
 * The steps of a random walk through everything that users do and that production does to them. Pure: a seed gives the
 * same steps. What a step takes (which observer, which service) is `pick`, a share of those that are there by then.
 */
export type WalkStep = { pauseMs: number } & WalkAction;

/** How an observer behaves: for ever, slow to stop, throwing twice and then well, returning, failing for good. */
export type Manner = "steady" | "slow-to-stop" | "recovering" | "returning" | "hopeless";

export type WalkAction =
  | { kind: "create"; manner: Manner }
  | { kind: "stop"; pick: number; force: boolean }
  | { kind: "restart"; pick: number }
  | { kind: "pause"; pick: number }
  | { kind: "resume"; pick: number }
  /** Its params, to others that do the same; or, each fourth time, its labels alone. */
  | { kind: "change"; pick: number; mark: number }
  /** By one call that is carried out in the background: to all of a manner; a stop to one alone, and whoever's name begins so. */
  | { kind: "work"; act: WorkAct; pick: number }
  /** kill -9, and its successor under the same name at once. */
  | { kind: "kill-service"; pick: number }
  /** SIGTERM, and its successor when it is gone. */
  | { kind: "drain-service"; pick: number }
  | { kind: "kill-manager"; downMs: number }
  /** By the broker's operator: its messages are requeued at once. */
  | { kind: "close-connection"; pick: number }
  | { kind: "reset-wire"; pick: number }
  /** Reset, and refused from then on until `heal`. */
  | { kind: "cut-wire"; pick: number }
  | { kind: "heal" }
  /** Nothing passes for so long, and nobody is told. */
  | { kind: "blackhole"; pick: number; direction: "to-server" | "to-client" | "both"; forMs: number }
  | { kind: "freeze-service"; pick: number; forMs: number }
  | { kind: "kill-broker"; downMs: number }
  | { kind: "kill-database"; downMs: number }
  /** Of a cluster of three: a node loses both others, or the next one alone, for so long. */
  | { kind: "part-nodes"; pick: number; whom: "both" | "next"; how: "reset" | "silent"; forMs: number }
  | { kind: "kill-node"; pick: number; downMs: number };

// Without fast-check's liking for the ends of a range: here no value is more telling than another.
const ms = (min: number, max: number) => fc.noBias(fc.integer({ min, max }));
const pick = ms(0, 9_999).map((each) => each / 10_000);
const manner = fc.constantFrom<Manner>("steady", "steady", "steady", "slow-to-stop", "recovering", "returning", "hopeless");

const action = (kind: WalkAction["kind"], more: Record<string, fc.Arbitrary<unknown>> = {}) =>
  fc.record({ kind: fc.constant(kind), ...more }) as fc.Arbitrary<WalkAction>;

const EVERYDAY = [
  { weight: 6, arbitrary: action("create", { manner }) },
  { weight: 4, arbitrary: action("stop", { pick, force: fc.constantFrom(false, false, false, true) }) },
  { weight: 3, arbitrary: action("restart", { pick }) },
  { weight: 3, arbitrary: action("pause", { pick }) },
  { weight: 2, arbitrary: action("resume", { pick }) },
  { weight: 4, arbitrary: action("change", { pick, mark: ms(0, 9_999) }) },
  { weight: 2, arbitrary: action("work", { act: fc.constantFrom("pause", "resume", "restart", "stop"), pick }) },
];

const FAULTS = [
  { weight: 3, arbitrary: action("kill-service", { pick }) },
  { weight: 1, arbitrary: action("drain-service", { pick }) },
  { weight: 2, arbitrary: action("kill-manager", { downMs: ms(0, 1_000) }) },
  { weight: 2, arbitrary: action("close-connection", { pick }) },
  { weight: 1, arbitrary: action("reset-wire", { pick }) },
  { weight: 1, arbitrary: action("cut-wire", { pick }) },
  { weight: 2, arbitrary: action("heal") },
  // Shorter than any deadline: nothing may come of it.
  { weight: 1, arbitrary: action("blackhole", { pick, direction: directions(), forMs: ms(100, 1_500) }) },
];

/** What the heavy faults befall; `heartbeatMs` scales those that last. */
export interface HeavyFaults {
  heartbeatMs: number;
  /** A broker of one node, or of three that can lose each other. */
  broker: "node" | "cluster";
}

/** Those that last longer than the heartbeat or take a server away: for the soak. */
const heavyFaults = ({ heartbeatMs, broker }: HeavyFaults) => [
  { weight: 1, arbitrary: action("blackhole", { pick, direction: directions(), forMs: ms(heartbeatMs, 4 * heartbeatMs) }) },
  { weight: 1, arbitrary: action("freeze-service", { pick, forMs: ms(heartbeatMs, 4 * heartbeatMs) }) },
  ...(broker === "cluster"
    ? clusterFaults(heartbeatMs)
    : [{ weight: 1, arbitrary: action("kill-broker", { downMs: ms(0, 5_000) }) }]),
  { weight: 1, arbitrary: action("kill-database", { downMs: ms(0, 5_000) }) },
];

/** As long a silence as its nodes need to find it out is among them: see guarantees.md on `net_ticktime`. */
function clusterFaults(heartbeatMs: number) {
  const whom = fc.constantFrom("both", "next");
  const part = (how: "reset" | "silent", forMs: fc.Arbitrary<number>) =>
    action("part-nodes", { pick, whom, how: fc.constant(how), forMs });
  return [
    { weight: 1, arbitrary: action("kill-node", { pick, downMs: ms(0, 5_000) }) },
    { weight: 2, arbitrary: part("reset", ms(heartbeatMs / 2, 3 * heartbeatMs)) },
    { weight: 2, arbitrary: part("reset", ms(100, 3_000)) }, // a flap
    { weight: 2, arbitrary: part("silent", ms(heartbeatMs / 2, 5 * heartbeatMs)) },
  ];
}

function directions() {
  return fc.constantFrom("to-server", "to-client", "both");
}

/** The same for the same seed. */
export function walkSteps(seed: number, count: number, options: { heavy?: HeavyFaults } = {}): WalkStep[] {
  const faults = options.heavy ? [...FAULTS, ...heavyFaults(options.heavy)] : FAULTS;
  const step = fc
    .tuple(fc.oneof(...EVERYDAY, ...faults), ms(20, options.heavy ? 1_000 : 300))
    .map(([what, pauseMs]): WalkStep => ({ ...what, pauseMs }));
  const steps = fc.array(step, { minLength: count, maxLength: count, size: "max" });
  return fc.sample(steps, { seed, numRuns: 1 })[0] ?? [];
}

export function describeStep({ kind, ...more }: WalkAction): string {
  const words = Object.entries(more).map(([name, value]) => {
    return `${name}=${typeof value === "number" && !Number.isInteger(value) ? value.toFixed(2) : value}`;
  });
  return [kind, ...words].join(" ");
}
