/** Pauses that double from failure to failure, up to a longest one. */
export interface DoublingPauses {
  firstMs: number;
  maxMs: number;
}

/** The pause after this many failures in a row; 0 gives the first. It has no jitter, as each user is alone with what it asks. */
export const backoffMs = ({ firstMs, maxMs }: DoublingPauses, failures: number): number =>
  Math.min(maxMs, firstMs * 2 ** Math.min(failures, 30));
