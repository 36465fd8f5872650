import { setTimeout as sleep } from "node:timers/promises";

const PRODUCTS = ["BTC-USD", "ETH-USD", "SOL-USD", "DOGE-USD", "ADA-USD"];
const MOVE_PERCENT = 0.1;
/** Its id makes it one and the same, however often it is created. */
const FLOW = {
  id: "0193d3a0-0000-7000-8000-00000000f10e",
  name: "demo-words",
  tasks: [
    ...["to be or not to be", "that is the question", "whether tis nobler in the mind to suffer"].map((text, i) => ({
      ref: `text-${i + 1}`,
      type: "demo-words",
      pool: "demo",
      params: { text },
    })),
    { ref: "sum", type: "demo-sum", pool: "demo", after: ["text-1", "text-2", "text-3"] },
  ],
};
/** A task of that type, each minute. */
const SCHEDULE = {
  id: "demo-each-minute",
  body: {
    cron: "* * * * *",
    task: { type: "demo-words", pool: "demo", params: { text: "and each minute as the clock goes" } },
  },
};
// For all of them together: services tell their types and workers within a second or two.
const PATIENCE_MS = 30_000;

/**
 * Creates the price-watch observers of the demonstration, over REST as anybody would. Those of an earlier start go on by
 * themselves; they are made again only if the exchange had to move to another address meanwhile.
 *
 * @param {string} managerUrl
 * @param {string} exchangeUrl
 * @param {number} workers of all services together: one is left to whoever tries something
 * @returns {Promise<string[]>} what went otherwise than wished, in words; empty when all is well
 */
export async function createDemonstration(managerUrl, exchangeUrl, workers) {
  const deadline = performance.now() + PATIENCE_MS;
  const products = PRODUCTS.slice(0, Math.max(0, workers - 1));
  const complaints = [];
  if (products.length < PRODUCTS.length)
    complaints.push(
      `${products.length} of ${PRODUCTS.length} prices are watched: of ${workers} workers in all, one is left to you.`,
    );
  for (const product of products) {
    const wanted = {
      name: `demo-${product}`,
      type: "price-watch",
      params: { url: exchangeUrl, product, movePercent: MOVE_PERCENT, resume: true },
    };
    const complaint = await ensureObserver(`${managerUrl}/api/v1/observers`, wanted, deadline);
    if (complaint === null) continue;
    complaints.push(`${wanted.name}: ${complaint.text}`);
    if (complaint.isOfAll) break;
  }
  return complaints;
}

/**
 * Creates the demonstration's flow: three tasks, and one that is given what they return. It is over in a moment, and stays to be looked at.
 * And the schedule that creates such a task each minute.
 *
 * @param {string} managerUrl
 * @returns {Promise<string[]>} what went otherwise than wished, in words
 */
export async function createDemonstrationFlow(managerUrl) {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const { status, body } = await call("POST", `${managerUrl}/api/v1/flows`, FLOW);
    if (status === 201 || status === 200) return createSchedule(managerUrl, deadline);
    // The service of its pool may not have told of its types yet.
    const isEarly = mayPass(status) || body?.code === "unknown-type";
    if (!isEarly || performance.now() > deadline) return [`${FLOW.name}: ${complaintOf(status, body).text}`];
    await sleep(250);
  }
}

/**
 * @param {string} managerUrl
 * @param {number} deadline
 * @returns {Promise<string[]>}
 */
async function createSchedule(managerUrl, deadline) {
  for (;;) {
    const { status, body } = await call("PUT", `${managerUrl}/api/v1/schedules/${SCHEDULE.id}`, SCHEDULE.body);
    if (status === 201 || status === 200) return [];
    if (!mayPass(status) || performance.now() > deadline) return [`${SCHEDULE.id}: ${complaintOf(status, body).text}`];
    await sleep(250);
  }
}

/**
 * @param {string} observersUrl
 * @param {{ name: string, type: string, params: { url: string } }} wanted
 * @param {number} deadline
 * @returns {Promise<{ text: string, isOfAll: boolean } | null>} null when it is there; `isOfAll`: the others would fare alike
 */
async function ensureObserver(observersUrl, wanted, deadline) {
  for (;;) {
    const { status, body } = await call("POST", observersUrl, wanted);
    if (status === 201 || status === 200) return null;
    if (status === 409) {
      const { body: found } = await call("GET", `${observersUrl}/${wanted.name}`);
      if (found?.params?.url === wanted.params.url) return null;
      // It watches an address where no exchange is any more.
      await call("DELETE", `${observersUrl}/${wanted.name}?force=true`);
    } else if (!mayPass(status)) {
      return complaintOf(status, body);
    }
    if (performance.now() > deadline) return complaintOf(status, body);
    await sleep(250);
  }
}

/**
 * A manager that starts, or services that it does not know yet. All have the same types: one that the first does not know is
 * not there.
 *
 * @param {number} status 0 when it did not answer
 */
function mayPass(status) {
  return status === 0 || status === 503;
}

/**
 * @param {number} status
 * @param {any} body
 */
function complaintOf(status, body) {
  const text = status === 0 ? "the manager does not answer" : (body?.detail ?? body?.title ?? `status ${status}`);
  return { text, isOfAll: body?.code === "unknown-type" };
}

/**
 * @param {string} method
 * @param {string} url
 * @param {unknown} [body]
 * @returns {Promise<{ status: number, body: any }>}
 */
async function call(method, url, body) {
  try {
    const answer = await fetch(url, {
      method,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(5_000),
    });
    return { status: answer.status, body: await answer.json().catch(() => null) };
  } catch {
    return { status: 0, body: null };
  }
}
