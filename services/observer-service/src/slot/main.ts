import { writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { setImmediate } from "node:timers";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
import type { Tracing } from "@unacked/tracing";
import { thrownText } from "../error-text.ts";
import { installIsolation } from "../isolation.ts";
import { serviceTracing } from "../service-tracing.ts";
import { FrameReader, FrameWriter } from "../wire/frames.ts";
import { type FromSlot, type Load, type ToSlot, WIRE_FD } from "../wire/messages.ts";
import { SilenceWatch } from "../wire/silence-watch.ts";
import { FileOwner, type TellFileError } from "./file-owner.ts";
import { LagMeter } from "./lag-meter.ts";
import { boundedBroken } from "./load-failure.ts";
import { LoadObserversError, loadObservers } from "./load-observers.ts";
import { otherVersion } from "./other-version.ts";
import { PoolThreads } from "./pool-threads.ts";
import { PoolWatch } from "./pool-watch.ts";
import { exitSlot, guardProcess } from "./process-guard.ts";
import { SlotHost } from "./slot-host.ts";
import { catalogueOf } from "./type-catalogue.ts";
import type { WatchdogData } from "./watchdog.ts";
import { installWhereabouts } from "./whereabouts.ts";

/**
 * A slot runs handlers, many at once, for the keeper that is its parent. It has no broker, no lease and no secret of the
 * keeper's. It may die at any time, and nothing but its handlers notices. It never outlives the keeper: see watchdog.ts.
 */

/** How often the main thread shows its watchdog that it turns. */
const TICK_MS = 100;

const socket = new Socket({ fd: WIRE_FD });
const writer = new FrameWriter<FromSlot>(socket);
const send = (message: FromSlot): void => writer.send(message);
const watch = new SilenceWatch();
let host: SlotHost | undefined;
let tracing: Tracing | undefined;
let isLoading = false;
/** Whether a run has begun here: then a block may be its doing. */
let isUsed = false;
/** Set once it has loaded, as a block before that delays nobody. */
let lag: LagMeter | undefined;
let pool: PoolWatch | undefined;

// The keeper ends its slots in its own order, so signals to the terminal's group are ignored.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
giveWay();
guardProcess(() => isLoading);
installIsolation((error) => endBy(error, () => exitSlot(1)));
installWhereabouts(() => isUsed);

const reader = new FrameReader(
  (frame) => take(frame as ToSlot),
  () => exitSlot(1),
);
socket.on("data", (chunk: Buffer) => reader.take(chunk));
socket.on("error", () => exitSlot(1));
socket.on("close", () => exitSlot(1));

/** Ends by an error that belongs to no handler. */
function endBy(error: unknown, end: () => void): void {
  send({ kind: "unattributed", error: thrownText(error) });
  writer.flush();
  setImmediate(end);
}

function take(message: ToSlot): void {
  if (message.kind === "load") return void load(message);
  if (message.kind === "collect") return collectGarbage();
  if (message.kind === "hold-silence") return watch.hold(message.isHeld);
  if (message.kind === "end") return void (tracing?.close(message.limitMs) ?? Promise.resolve()).then(() => exitSlot(0));
  if (message.kind === "begin") isUsed = true;
  host?.take(message);
}

async function load(order: Load): Promise<void> {
  const { dir, permissions, without, first, logLevel, stopTimeoutMs, saveEveryMs, stuckMs, service } = order;
  const threads = new PoolThreads();
  await threads.find();
  startWatchdog(stuckMs);
  const problem = otherVersion(service.version);
  if (problem !== undefined) return send({ kind: "not-loaded", problem });
  // The keeper has already said that it traces.
  const quiet = {
    info: () => undefined,
    warn: (_fields: object, message: string) => void process.stderr.write(`${message}\n`),
  };
  tracing = await serviceTracing(service, quiet);
  isLoading = true;
  try {
    const { types, tasks, described, notOffered, broken, code } = await loadObservers(dir, permissions, {
      without,
      first,
      enter: (file, enter) => new FileOwner(file, tellFileError).run(enter),
      onFile: (file) => {
        send({ kind: "loading", file });
        writer.flush(); // it may end this process
      },
    });
    lag = new LagMeter(TICK_MS, send);
    // Ends by a signal, as Node's own exit waits for the threads of the pool.
    const onHeld = (error: Error) => endBy(error, () => process.kill(process.pid, "SIGKILL"));
    const isOneAlone = () => (host?.running ?? 0) <= 1;
    pool = new PoolWatch({ stuckMs, tickMs: TICK_MS, onHeld, isOneAlone, worked: () => threads.ticks() });
    host = new SlotHost({ types, tasks, wire: writer, logLevel, stopTimeoutMs, saveEveryMs, tracing, watch });
    const folder = { notOffered: [...notOffered], broken: boundedBroken(broken), code };
    send({ kind: "loaded", ...catalogueOf(described), ...folder });
  } catch (error) {
    if (!(error instanceof LoadObserversError)) throw error;
    send({ kind: "not-loaded", problem: error.message });
  } finally {
    isLoading = false;
    printAside();
  }
}

/**
 * Printing never waits for the keeper, which reads at a pace. The compiler of TypeScript is a process that inherits our stderr,
 * and Node then makes writes wait for all who share it (libuv, uv_spawn): an observer that printed too much held up all others
 * beside it.
 */
function printAside(): void {
  for (const stream of [process.stdout, process.stderr])
    (stream as { _handle?: { setBlocking?(isBlocking: boolean): void } })._handle?.setBlocking?.(false);
}

const tellFileError: TellFileError = (file, error, times) => send({ kind: "file-error", file, error, times });

/** In a program that idles V8 does not collect garbage, even Buffers. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

/**
 * If memory runs out, the kernel ends a slot rather than the keeper (proc(5), oom_score_adj). Raising the score needs no
 * right.
 */
function giveWay(): void {
  try {
    writeFileSync("/proc/self/oom_score_adj", "500");
  } catch {
    // There is no /proc, or it is not ours to write.
  }
}

function startWatchdog(stuckMs: number): void {
  const ticks = new Int32Array(new SharedArrayBuffer(4));
  const fenced = new Int32Array(new SharedArrayBuffer(4));
  setInterval(() => {
    Atomics.add(ticks, 0, 1);
    lag?.tick();
    pool?.tick();
    if (Atomics.exchange(fenced, 0, 0) === 1) host?.abortAll();
  }, TICK_MS);
  const workerData: WatchdogData = { ticks, fenced, stuckMs, tickMs: TICK_MS };
  const file = new URL(import.meta.url.endsWith(".ts") ? "./watchdog.ts" : "./watchdog.js", import.meta.url);
  const watchdog = new Worker(file, { workerData, stdin: false, execArgv: [] });
  watchdog.on("error", () => exitSlot(1));
  watchdog.on("exit", () => exitSlot(1));
}
