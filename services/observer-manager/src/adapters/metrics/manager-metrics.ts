import type { Stats } from "@unacked/contracts";
import { addBrokerMetrics, addProcessMetrics, type BrokerConnections, MetricSet } from "@unacked/metrics";
import type { TaskFiguresUndrawn } from "../../domain/tasks/figures-overview.ts";
import type { CommandCount } from "../../operations/commands/command-store.ts";
import type { FlowCounts } from "../../operations/flows/flow-store.ts";
import type { Log } from "../../operations/log.ts";
import type { ScheduleCounts } from "../../operations/schedules/schedule-store.ts";
import type { RequestTally, ScheduleTally, Tally, TaskTally, TimerTally } from "../../operations/tally.ts";
import type { TaskCounts } from "../../operations/tasks/figures/task-counts.ts";
import type { TimerCounts } from "../../operations/timers/timer-store.ts";
import { BooksMetrics } from "./books-metrics.ts";
import { FlowMetrics } from "./flow-metrics.ts";
import { type AnsweredRequest, HttpMetrics } from "./http-metrics.ts";
import { type FlowFigures, OperationMetrics } from "./operation-metrics.ts";
import { type BooksPart, PartsOfBooks } from "./parts-of-books.ts";
import { RequestMetrics } from "./request-metrics.ts";
import { ScheduleMetrics } from "./schedule-metrics.ts";
import { TaskFigureMetrics } from "./task-figure-metrics.ts";
import { TaskMetrics } from "./task-metrics.ts";
import { TimerMetrics } from "./timer-metrics.ts";

export interface ManagerMetricsParts extends FlowFigures {
  version: string;
  stats(): Promise<Stats>;
  commands(): Promise<CommandCount[]>;
  tasks(): Promise<TaskCounts>;
  taskFigures(): Promise<TaskFiguresUndrawn>;
  flows(): Promise<FlowCounts>;
  timers(): Promise<TimerCounts>;
  schedules(): Promise<ScheduleCounts>;
  connections(): BrokerConnections;
  /** The names of the broker's users who may send requests over AMQP. */
  requestUsers: readonly string[];
  /** How many requests over AMQP wait. */
  requestsWaiting(): number | undefined;
  /** How many clients follow the stream of events. */
  streams(): number;
  log: Log;
  /** How long reading the database may take, in ms. Default 8,000: less than Prometheus' own limit (10 s). */
  readWithinMs?: number;
}

const READ_WITHIN_MS = 8_000;

/**
 * The metrics of a manager. Names tell how to add them up: `unacked_…` is read from the database at the scrape, so that
 * every manager shows the same (take the max); `unacked_manager_…` is this process's own (take the sum).
 */
export class ManagerMetrics {
  readonly #parts: ManagerMetricsParts;
  readonly #metrics = new MetricSet();
  readonly #readable: PartsOfBooks;
  readonly #books: BooksMetrics;
  readonly #http: HttpMetrics;
  readonly #tasks: TaskMetrics;
  readonly #requests: RequestMetrics;
  readonly #taskFigures: TaskFigureMetrics;
  readonly #flows: FlowMetrics;
  readonly #timers: TimerMetrics;
  readonly #schedules: ScheduleMetrics;
  readonly tally: Tally;
  /** The scrape that is under way. */
  #scrape: Promise<string> | undefined;

  constructor(parts: ManagerMetricsParts) {
    this.#parts = parts;
    addProcessMetrics(this.#metrics, parts.version);
    addBrokerMetrics(this.#metrics, parts.connections);
    this.#readable = new PartsOfBooks(this.#metrics, parts.log);
    this.#books = new BooksMetrics(this.#metrics);
    this.#http = new HttpMetrics(this.#metrics, parts.streams);
    this.#tasks = new TaskMetrics(this.#metrics);
    this.#requests = new RequestMetrics(this.#metrics, parts.requestUsers);
    this.#taskFigures = new TaskFigureMetrics(this.#metrics);
    this.#flows = new FlowMetrics(this.#metrics);
    this.#timers = new TimerMetrics(this.#metrics);
    this.#schedules = new ScheduleMetrics(this.#metrics);
    this.tally = new OperationMetrics(this.#metrics, parts);
  }

  get taskTally(): TaskTally {
    return this.#tasks;
  }

  get requestTally(): RequestTally {
    return this.#requests;
  }

  get timerTally(): TimerTally {
    return this.#timers;
  }

  get scheduleTally(): ScheduleTally {
    return this.#schedules;
  }

  get descriptions(): MetricSet["descriptions"] {
    return this.#metrics.descriptions;
  }

  get contentType(): string {
    return this.#metrics.contentType;
  }

  answered(request: AnsweredRequest): void {
    this.#http.answered(request);
  }

  /**
   * The text of one scrape. Parts of the database that cannot be read are left out, and `unacked_manager_books_part_readable` says so.
   * Callers that ask meanwhile share it: anybody may ask (METRICS_ACCESS), and each reading takes all connections to the database that
   * there are.
   */
  render(): Promise<string> {
    this.#scrape ??= this.#read().finally(() => (this.#scrape = undefined));
    return this.#scrape;
  }

  async #read(): Promise<string> {
    const { stats, commands, tasks, taskFigures, timers, schedules, flows, requestsWaiting, readWithinMs } = this.#parts;
    this.#requests.show(requestsWaiting());
    const each = <Read>(part: BooksPart, read: () => Promise<Read>, show: (read: Read | undefined) => void) =>
      this.#readable.read(part, { read, show }, readWithinMs ?? READ_WITHIN_MS);
    await Promise.all([
      each("stats", stats, (read) => this.#books.showStats(read)),
      each("commands", commands, (read) => this.#books.showCommands(read)),
      each("tasks", tasks, (read) => this.#tasks.show(read)),
      each("task-figures", taskFigures, (read) => this.#taskFigures.show(read)),
      each("timers", timers, (read) => this.#timers.show(read)),
      each("schedules", schedules, (read) => this.#schedules.show(read)),
      each("flows", flows, (read) => this.#flows.show(read)),
    ]);
    return this.#metrics.render();
  }
}
