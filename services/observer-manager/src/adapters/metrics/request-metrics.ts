import type { MetricSet } from "@unacked/metrics";
import { REQUEST_OUTCOMES, type RequestOutcome } from "../../operations/requests/request.ts";
import type { RequestTally } from "../../operations/tally.ts";

const OTHERS = "(others)";
const ITEM_OUTCOMES = ["accepted", "refused"] as const;

/** Metrics of requests over AMQP. */
export class RequestMetrics implements RequestTally {
  readonly #requests;
  readonly #items;
  readonly #undelivered;
  readonly #waiting;

  /** @param users whom REQUEST_USERS names */
  constructor(metrics: MetricSet, users: readonly string[]) {
    const userLabel = `users of the broker that REQUEST_USERS names; the rest together as ${OTHERS}`;
    this.#requests = metrics.counter({
      name: "unacked_manager_requests_total",
      help: "Requests over AMQP, by what became of them. Repeated: answered again as before; unanswerable: among the errors; ignored: of too many such.",
      labels: { user: userLabel, outcome: REQUEST_OUTCOMES },
    });
    this.#items = metrics.counter({
      name: "unacked_manager_requested_items_total",
      help: "Tasks, timers and cancels that requests over AMQP asked for, as they were decided. Refused: each for itself, in a request that is done.",
      labels: { user: userLabel, outcome: ITEM_OUTCOMES },
    });
    this.#undelivered = metrics.counter({
      name: "unacked_manager_request_replies_undelivered_total",
      help: "Answers to requests over AMQP that no queue of the requester took.",
      labels: { user: userLabel },
    });
    // Shown before the first request, as alert and dashboard ask whether they rise.
    for (const user of [...users, OTHERS]) {
      for (const outcome of REQUEST_OUTCOMES) this.#requests.inc({ user, outcome }, 0);
      for (const outcome of ITEM_OUTCOMES) this.#items.inc({ user, outcome }, 0);
      this.#undelivered.inc({ user }, 0);
    }
    this.#waiting = metrics.gauge({
      name: "unacked_requests_waiting",
      help: "Requests over AMQP that are not answered yet: those that nobody has received, as of some seconds ago, and those that this manager holds. Missing while the broker cannot be asked.",
    });
  }

  answered(user: string | undefined, outcome: RequestOutcome, isTold: boolean): void {
    this.#requests.inc({ user: user ?? OTHERS, outcome });
    if (!isTold) this.#undelivered.inc({ user: user ?? OTHERS });
  }

  decided(user: string, accepted: number, refused: number): void {
    this.#items.inc({ user, outcome: "accepted" }, accepted);
    this.#items.inc({ user, outcome: "refused" }, refused);
  }

  /** `undefined` means that it is not known. */
  show(waiting: number | undefined): void {
    this.#waiting.remove();
    if (waiting !== undefined) this.#waiting.set({}, waiting);
  }
}
