/** Pauses that double from failure to failure, up to a longest one. */
export interface DoublingPauses {
  firstMs: number;
  maxMs: number;
}

/** The pause after so many failures in a row: 0 gives the first. Without chance in it: each who uses it is alone with what it asks. */
export const backoffMs = ({ firstMs, maxMs }: DoublingPauses, failures: number): number =>
  Math.min(maxMs, firstMs * 2 ** Math.min(failures, 30));
