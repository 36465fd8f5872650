interface SightedService {
  id: string;
  generation: number;
  isSuspect: boolean;
  /** False: it says itself that it drains, or takes nothing for now. It has no consumer, but may hold what it has not given back yet. */
  consumes: boolean;
  inventoryAtMs: number | null;
}

/** One look at a pool, taken by the reconciler. */
export interface Sighting {
  /** Observers without a current run and without a start that is still to be sent, each with a mark of its row's version. */
  suspects: ReadonlyMap<string, string>;
  /** The work queue: messages that nobody holds, and consumers. */
  queue: { ready: number; consumers: number };
  /** Events that services have sent and no manager has been given. */
  stateQueueDepth: number;
  /** The pool's services that are not known to be gone. */
  services: readonly SightedService[];
  /** The books have read all that was said until then, as a marker tells that has come through the state queue; null: no marker has. */
  readUntilMs: number | null;
  /** This time and those above are by PostgreSQL's clock. */
  atMs: number;
}

/**
 * The ids of observers that are proven absent: neither the broker nor a service has them. Seen twice with nothing changed
 * between: no message is ready, the queue has as many consumers as there are services that say they consume, every service has
 * given its whole inventory since the first look, and the books have read everything that was said before it: what an active
 * manager that stands still has been given is in no queue's count. One that consumes again before the books know makes the numbers differ.
 * A message in a frozen service's socket is in none of these, but then that service has not reported.
 */
export function provenAbsent(first: Sighting, second: Sighting): string[] {
  if (!isQuiet(first) || !isQuiet(second)) return [];
  if (!isBetween(first, second.readUntilMs, second)) return [];
  if (first.services.length !== second.services.length) return [];
  const before = new Set(first.services.map((service) => `${service.id} ${service.generation}`));
  for (const service of second.services) {
    if (!before.has(`${service.id} ${service.generation}`)) return [];
    if (!isBetween(first, service.inventoryAtMs, second)) return [];
  }
  return [...second.suspects].filter(([id, mark]) => first.suspects.get(id) === mark).map(([id]) => id);
}

/** Whether it was since the first look. A time later than the second look is from before a clock was set back. */
const isBetween = (first: Sighting, atMs: number | null, second: Sighting): boolean =>
  atMs !== null && first.atMs < atMs && atMs <= second.atMs;

/** Nothing is under way that could still bring a run. */
function isQuiet({ queue, services, stateQueueDepth }: Sighting): boolean {
  return (
    queue.ready === 0 &&
    stateQueueDepth === 0 &&
    queue.consumers === services.filter((service) => service.consumes).length &&
    services.every((service) => !service.isSuspect)
  );
}
