import { url as inspectorUrl, Session } from "node:inspector";
import { Socket } from "node:net";
import { workerData } from "node:worker_threads";
import { FrameReader, FrameWriter } from "../wire/frames.ts";
import { type LeaseWord, LIFELINE_FD, MAX_TOLD_STACK, type Stuck, type WatchdogWord } from "../wire/messages.ts";

/**
 * The thread of a slot that no handler can block. It ends the slot, with everything in its process group, when
 *  - the lifeline ends: only the keeper holds its other end, so the keeper is gone, whatever the main thread does;
 *  - the lease's deadline has passed and handlers had their grace: the keeper is frozen, or cut off from its broker.
 * And it tells the keeper that it is there, and when the main thread has not turned for `stuckMs`, with the handler that holds it, if it can be asked.
 */
export interface WatchdogData {
  /** The main thread counts it up every `tickMs`. */
  readonly ticks: Int32Array;
  readonly tickMs: number;
  /** This thread sets it: the lease is gone, and the main thread has to tell its handlers. */
  readonly fenced: Int32Array;
  /** 0 means that only lifeline and lease are watched. */
  readonly stuckMs: number;
}

const { ticks, fenced, tickMs, stuckMs } = workerData as WatchdogData;
/** How long an answer may take: the slot is blocked anyway, and a busy machine is slow. */
const ANSWER_LIMIT_MS = 3_000;
const ASK_AGAIN_MS = 50;
/** Its frame is told from the author's by this name: keeper/slots/blame/told-stack.ts. */
const EXPRESSION = 'globalThis[Symbol.for("unacked.whereabouts")]()\n//# sourceURL=unacked-whereabouts';
const ALIVE_EVERY_MS = 1_000;

const lifeline = new Socket({ fd: LIFELINE_FD });
const writer = new FrameWriter<WatchdogWord>(lifeline);
const reader = new FrameReader((frame) => obey(frame as LeaseWord), endGroup);
lifeline.on("data", (chunk: Buffer) => reader.take(chunk));
for (const event of ["end", "error", "close"]) lifeline.on(event, endGroup);

let fence: NodeJS.Timeout | undefined;
let end: NodeJS.Timeout | undefined;

function endGroup(): void {
  // The slot leads a group of its own (keeper/slots/process/slot-process.ts), so what its handlers have started goes with it.
  try {
    process.kill(-process.pid, "SIGKILL");
  } catch {
    process.kill(process.pid, "SIGKILL");
  }
}

/** `hrtime` is one clock for all processes of a host; setting the time does not move it. */
function obey({ deadlineNs, graceMs }: LeaseWord): void {
  clearTimeout(fence);
  clearTimeout(end);
  Atomics.store(fenced, 0, 0);
  if (deadlineNs === null) return;
  const leftMs = Number(BigInt(deadlineNs) - process.hrtime.bigint()) / 1e6;
  fence = setTimeout(() => Atomics.store(fenced, 0, 1), Math.max(0, leftMs));
  end = setTimeout(endGroup, Math.max(0, leftMs) + graceMs);
}

const tellAlive = () => writer.send({ kind: "alive" });
tellAlive();
setInterval(tellAlive, ALIVE_EVERY_MS);

let seen = Atomics.load(ticks, 0);
let silentTicks = 0;
let lookedAtMs = performance.now();
setInterval(() => {
  const nowMs = performance.now();
  // Only this thread's own punctual ticks count, so that a machine that was paused blames nobody.
  const isPunctual = nowMs - lookedAtMs < 3 * tickMs;
  lookedAtMs = nowMs;
  const now = Atomics.load(ticks, 0);
  if (now !== seen || !isPunctual) silentTicks = 0;
  else silentTicks += 1;
  seen = now;
  if (stuckMs > 0 && silentTicks * tickMs === Math.ceil(stuckMs / tickMs) * tickMs && inspectorUrl() === undefined)
    void tellStuck(silentTicks * tickMs);
}, tickMs);

async function tellStuck(forMs: number): Promise<void> {
  const before = Atomics.load(ticks, 0);
  const turnsAgain = () => Atomics.load(ticks, 0) !== before;
  const session = new Session();
  session.connectToMainThread();
  const whereabouts = await askWhereabouts(session, turnsAgain);
  await wait(2 * tickMs);
  // The block is over, or the machine is too busy and the run that answered only had its turn. Nobody is to blame.
  if (turnsAgain()) return session.disconnect();
  const stack = whereabouts?.stack?.slice(0, MAX_TOLD_STACK);
  writer.send({ kind: "stuck", forMs, ...whereabouts, stack });
}

type Whereabouts = Pick<Stuck, "runId" | "file" | "isUsed" | "stack">;

/**
 * Asks the main thread, in the middle of what it does. Node passes an inspector's message on by an interrupt, which V8 lets in at each
 * turn of a loop, in an endless chain of microtasks and in a regular expression, but not in a system call that blocks. (A pause by
 * `Debugger.pause` waits for a function call, which optimised code may not make: measured, two of seven did not come in 5 s.)
 */
async function askWhereabouts(session: Session, turnsAgain: () => boolean): Promise<Whereabouts | undefined> {
  const evaluate = () =>
    new Promise<Whereabouts | undefined>((resolve) => {
      session.post("Runtime.evaluate", { expression: EXPRESSION, returnByValue: true }, (error, answer) => {
        const value: unknown = error === null ? answer.result.value : undefined;
        resolve(typeof value === "string" ? (JSON.parse(value) as Whereabouts) : undefined);
      });
    });
  const untilMs = performance.now() + ANSWER_LIMIT_MS;
  const leftMs = () => Math.max(0, untilMs - performance.now());
  let last: Whereabouts | undefined;
  for (;;) {
    last = (await Promise.race([evaluate(), wait(leftMs())])) ?? last;
    // Between two handlers' code it belongs to nobody. The same holds while a file loads, but then the answer says where.
    if (last?.runId !== undefined || turnsAgain() || leftMs() === 0) return last;
    await wait(ASK_AGAIN_MS);
  }
}

const wait = (ms: number): Promise<undefined> => new Promise((resolve) => setTimeout(() => resolve(undefined), ms));
