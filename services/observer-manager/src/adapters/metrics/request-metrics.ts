import type { MetricSet } from "@unacked/metrics";
import { REQUEST_OUTCOMES, type RequestOutcome } from "../../operations/requests/request.ts";
import type { RequestTally } from "../../operations/tally.ts";

const OTHERS = "(others)";

/** Metrics of requests over AMQP. */
export class RequestMetrics implements RequestTally {
  readonly #requests;
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
    this.#undelivered = metrics.counter({
      name: "unacked_manager_request_replies_undelivered_total",
      help: "Answers to requests over AMQP that no queue of the requester took.",
      labels: { user: userLabel },
    });
    // Shown before the first request, as alert and dashboard ask whether they rise.
    for (const user of [...users, OTHERS]) {
      for (const outcome of REQUEST_OUTCOMES) this.#requests.inc({ user, outcome }, 0);
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

  /** `undefined` means that it is not known. */
  show(waiting: number | undefined): void {
    this.#waiting.remove();
    if (waiting !== undefined) this.#waiting.set({}, waiting);
  }
}
