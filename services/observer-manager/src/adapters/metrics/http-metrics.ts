import type { MetricSet } from "@unacked/metrics";

export interface AnsweredRequest {
  method: string;
  /** The route as the OpenAPI document has it. Undefined if none matches: for the page's files, and what is not found. */
  route: string | undefined;
  /** Undefined if the client left before any of the answer. */
  status: number | undefined;
  durationMs: number;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/**
 * Answers by route, method and class of status. Streams of events do not count as answers: they are counted while they last.
 */
export class HttpMetrics {
  readonly #durations;

  constructor(metrics: MetricSet, streams: () => number) {
    this.#durations = metrics.histogram({
      name: "unacked_manager_http_request_duration_seconds",
      help: "HTTP requests, from the first byte read to the last byte of the answer, or until the client left.",
      labels: {
        route: "paths as the OpenAPI document and the pages have them; (other): files, and what is not there",
        method: `${METHODS.join(", ")}; else OTHER`,
        status: "1xx to 5xx; left: the client did not wait for any of the answer, as one that waits for a task may",
      },
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    });
    metrics.gauge({
      name: "unacked_manager_event_streams",
      help: "Clients that follow the stream of events at this manager.",
      collect: (gauge) => gauge.set(streams()),
    });
  }

  answered({ method, route = "(other)", status, durationMs }: AnsweredRequest): void {
    const labels = { route, method: METHODS.includes(method) ? method : "OTHER", status: classOf(status) };
    this.#durations.observe(labels, durationMs / 1_000);
  }
}

const classOf = (status: number | undefined): string => (status === undefined ? "left" : `${Math.floor(status / 100)}xx`);
