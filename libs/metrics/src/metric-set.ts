import { AggregatorRegistry, Counter, Gauge, Histogram, Registry } from "prom-client";

/**
 * Every label with its bounds: its values or, if only the deployment knows them, a few words about them. Listed values show
 * 0 from the start, so that a rate has something to begin with.
 */
export type LabelBounds = Readonly<Record<string, readonly string[] | string>>;

interface Metric<Label extends string> {
  /** The name ends with its unit; a counter's ends in `_total`. */
  name: string;
  /** One sentence: what it says, and what else a reader has to know. */
  help: string;
  labels?: Readonly<Record<Label, readonly string[] | string>>;
}

/** A metric's help text, and the bounds of its labels; docs/metrics.md is made from these. */
export interface MetricDescription {
  name: string;
  type: string;
  help: string;
  labels: LabelBounds;
}

/** All metrics of one process. The only place that knows prom-client. */
export class MetricSet {
  readonly registry = new Registry();
  readonly #bounds = new Map<string, LabelBounds>();

  /** `collect` is called at each scrape, before the value is read. */
  gauge<Label extends string = never>(metric: Metric<Label> & { collect?(gauge: Gauge<Label>): void }): Gauge<Label> {
    const { collect, ...rest } = metric;
    const gauge: Gauge<Label> = new Gauge({
      ...this.#settings(rest),
      ...(collect && { collect: () => collect(gauge) }),
    });
    return gauge;
  }

  /** With `collect` it shows a count that is kept elsewhere: at each scrape that resets the counter and counts it up. */
  counter<Label extends string = never>(
    metric: Metric<Label> & { collect?(counter: Counter<Label>): void },
  ): Counter<Label> {
    const { collect, ...rest } = metric;
    const counter: Counter<Label> = new Counter({
      ...this.#settings(rest),
      ...(collect && { collect: () => collect(counter) }),
    });
    for (const labels of combinations(rest.labels)) counter.inc(labels, 0);
    return counter;
  }

  histogram<Label extends string = never>(metric: Metric<Label> & { buckets: number[] }): Histogram<Label> {
    const { buckets, ...rest } = metric;
    const histogram = new Histogram({ ...this.#settings(rest), buckets });
    for (const labels of combinations(rest.labels)) histogram.zero(labels);
    return histogram;
  }

  /** All metrics by name. Labels of those that prom-client brings have no bounds of ours. */
  get descriptions(): MetricDescription[] {
    // The declared type says that `type` is a number.
    const metrics = this.registry.getMetricsAsArray() as unknown as Omit<MetricDescription, "labels">[];
    return metrics
      .map(({ name, type, help }) => ({ name, type, help, labels: this.#bounds.get(name) ?? {} }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** The text of one scrape. */
  render(): Promise<string> {
    return this.registry.metrics();
  }

  #settings<Label extends string>({ name, help, labels }: Metric<Label>) {
    this.#bounds.set(name, labels ?? {});
    return { name, help, labelNames: Object.keys(labels ?? {}) as Label[], registers: [this.registry] };
  }
}

/** Renders one scrape of several sets with the same metrics, each marked by labels of its own. */
export async function renderTogether(sets: readonly { labels: Record<string, string>; set: MetricSet }[]): Promise<string> {
  const all = sets.map(({ labels, set: { registry } }) => {
    registry.setDefaultLabels(labels);
    return registry.getMetricsAsJSON();
  });
  return AggregatorRegistry.aggregate(await Promise.all(all)).metrics();
}

/** Every combination of values that are known beforehand; none if a label's values are not. */
function combinations<Label extends string>(bounds: Metric<Label>["labels"]): Record<Label, string>[] {
  return Object.entries<readonly string[] | string>(bounds ?? {}).reduce<Record<string, string>[]>(
    (found, [label, values]) =>
      typeof values === "string" ? [] : found.flatMap((rest) => values.map((value) => ({ ...rest, [label]: value }))),
    [{}],
  );
}
