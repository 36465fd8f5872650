/** How often each comes is how often it stands here. */
export const STATUSES_OF_A_LIFE = ["Processing", "Processing", "Retrying", "Failed", "Redistributing", "Created"];

const FIRST_MS = Date.UTC(2026, 0, 1);

/** What the manager would answer for one; later ones are newer. @param {number} index */
export function viewOf(index) {
  const at = new Date(FIRST_MS + index).toISOString();
  return {
    id: uuid(1, index),
    name: `btc-usd-${index}`,
    type: "price-watch",
    pool: "default",
    labels: { team: "prices" },
    params: { url: "wss://exchange.example", product: "BTC-USD", movePercent: 0.5 },
    retry: {
      maxAttempts: "unlimited",
      delaysMs: { initialMs: 1_000, factor: 2, maxMs: 300_000, jitter: 0.2 },
      resetAfterMs: 600_000,
    },
    status: "Processing",
    service: { id: uuid(2, index % 20), name: `prices-${index % 20}` },
    currentRunId: uuid(3, index),
    revision: 1,
    specVersion: 1,
    observedSpecVersion: 1,
    runNumber: 1,
    epoch: 1,
    attempts: 1,
    lastError: null,
    silence: null,
    pending: null,
    silentSince: null,
    restartsLately: 0,
    nextAttemptAt: null,
    createdAt: at,
    modifiedAt: at,
  };
}

/** @param {number} kind @param {number} index */
const uuid = (kind, index) => `0000000${kind}-0000-7000-8000-${index.toString(16).padStart(12, "0")}`;
