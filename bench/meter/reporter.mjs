import { connect } from "node:net";
import { createInterface } from "node:readline";
import { nowMs } from "./clock.mjs";

/** Starts told apart no finer than by their own times, which travel along: so they may well be sent together. */
const FLUSH_MS = 5;

/**
 * How a process under measurement tells what its handlers do: out of band, over a Unix socket, and so cheaply that it does not
 * disturb what is measured (a count and two times for all starts of 5 ms). A process that is killed says nothing more.
 */
export class Reporter {
  #counts = emptyCounts();
  #isFlushDue = false;
  /** @type {import("node:net").Socket} */
  #socket;

  /** @param {string} path of the meter's socket */
  constructor(path) {
    this.#socket = connect(path);
    this.#socket.on("error", () => undefined); // the benchmark has gone, and this process goes with it
    this.#socket.unref();
    createInterface({ input: this.#socket }).on("line", (line) => this.#answer(line));
    this.#send({}); // it is there, and can be asked
  }

  /** A handler runs. @param {string} [name] told too, for the time of one among others */
  started(name) {
    const atMs = nowMs();
    this.#counts.started += 1;
    this.#counts.firstStartMs ||= atMs;
    this.#counts.lastStartMs = atMs;
    if (name !== undefined) this.#counts.named.push([name, atMs]);
    this.#flushSoon();
  }

  /** A handler was told to stop, or a raw message was settled. @param {number} [count] */
  stopped(count = 1) {
    this.#counts.stopped += count;
    this.#counts.lastStopMs = nowMs();
    this.#flushSoon();
  }

  #flushSoon() {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    setTimeout(() => this.#flush(), FLUSH_MS);
  }

  #flush() {
    this.#isFlushDue = false;
    this.#send({ ...this.#counts });
    this.#counts = emptyCounts();
  }

  /** The one thing that can be asked: to collect garbage (under --expose-gc) and say what memory is left. @param {string} line */
  #answer(line) {
    if (line !== "memory") return;
    for (let i = 0; i < 3; i += 1) globalThis.gc?.();
    this.#send({ memory: process.memoryUsage() });
  }

  /** @param {object} message */
  #send(message) {
    this.#socket.write(`${JSON.stringify({ pid: OF, ...message })}\n`);
  }
}

/** Whose work it is: a slot's parent is its service. */
const OF = process.env.UNACKED_SLOT === undefined ? process.pid : process.ppid;

const emptyCounts = () => ({
  started: 0,
  stopped: 0,
  firstStartMs: 0,
  lastStartMs: 0,
  lastStopMs: 0,
  named: /** @type {[string, number][]} */ ([]),
});

/** The one of this process; its meter is named by BENCH_METER. */
export const reporter = new Reporter(process.env.BENCH_METER ?? "");
