import { jsonOf } from "./json-of.ts";
import { labelsOf } from "./labels-of.ts";
import type { FieldErrors } from "./params-of.ts";

/** What every observer has beside its params, as typed. */
export interface SpecTexts {
  pool: string;
  labels: string;
  /** The retry policy, as JSON. */
  retry: string;
}

export interface ReadSpec {
  pool: string;
  labels: Record<string, string>;
  /** Whether it is a policy, the manager says; undefined where nothing was typed. */
  retry: unknown;
}

export const SPEC_POINTERS = ["/pool", "/labels", "/retry"];

/** Where something is wrong, what is read instead of it counts for nothing. */
export function readSpec({ pool, labels, retry }: SpecTexts): { spec: ReadSpec; errors: FieldErrors } {
  const readLabels = labelsOf(labels);
  const readRetry = retry.trim() === "" ? { value: undefined } : jsonOf(retry);
  const errors = {
    ...("error" in readLabels && { "/labels": readLabels.error }),
    ...("error" in readRetry && { "/retry": readRetry.error }),
  };
  return {
    spec: {
      pool,
      labels: "labels" in readLabels ? readLabels.labels : {},
      retry: "value" in readRetry ? readRetry.value : undefined,
    },
    errors,
  };
}

/** The other way round. */
export const specTexts = (spec: { pool: string; labels: Readonly<Record<string, string>>; retry: unknown }): SpecTexts => ({
  pool: spec.pool,
  labels: Object.entries(spec.labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(", "),
  retry: JSON.stringify(spec.retry),
});
