import { createServer } from "node:net";
import { createInterface } from "node:readline";

/**
 * @typedef {object} Counts what a process told at once; times are CLOCK_MONOTONIC in ms
 * @property {number} pid
 * @property {number} started
 * @property {number} stopped
 * @property {number} firstStartMs
 * @property {number} lastStartMs
 * @property {number} lastStopMs
 * @property {[string, number][]} named
 */

/**
 * Hears what the handlers of all processes under measurement do. Whatever is measured is read from here: from the handlers, not
 * from what the system says of itself.
 */
export class Meter {
  /** @type {Map<number, import("node:net").Socket>} by pid */
  #sockets = new Map();
  /** @type {Set<Watch>} */
  #watches = new Set();
  /** @type {Map<number, (usage: NodeJS.MemoryUsage) => void>} by pid */
  #memoryAsked = new Map();
  #server = createServer((socket) => this.#hear(socket));

  /** @param {string} path of the socket */
  async listen(path) {
    await new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(path, () => resolve(undefined));
    });
  }

  close() {
    for (const socket of this.#sockets.values()) socket.destroy();
    this.#server.close();
  }

  /** Counts from now on. @param {number[]} [pids] of these processes alone */
  watch(pids) {
    const watch = new Watch(pids, () => this.#watches.delete(watch));
    this.#watches.add(watch);
    return watch;
  }

  /**
   * After a garbage collection, if the process can be asked for one.
   *
   * @param {number} pid
   * @returns {Promise<NodeJS.MemoryUsage>}
   */
  memoryOf(pid) {
    const socket = this.#sockets.get(pid);
    if (socket === undefined) return Promise.reject(new Error(`Process ${pid} does not report to the meter.`));
    return new Promise((resolve) => {
      this.#memoryAsked.set(pid, resolve);
      socket.write("memory\n");
    });
  }

  /** @param {import("node:net").Socket} socket */
  #hear(socket) {
    socket.on("error", () => undefined); // its process was killed
    createInterface({ input: socket }).on("line", (line) => {
      const message = JSON.parse(line);
      this.#sockets.set(message.pid, socket);
      if (message.memory !== undefined) this.#memoryAsked.get(message.pid)?.(message.memory);
      else if (message.started !== undefined) for (const watch of this.#watches) watch.take(message);
    });
  }
}

/** What has happened since it began. */
export class Watch {
  started = 0;
  stopped = 0;
  /** 0 while nothing has started. */
  firstStartMs = 0;
  lastStartMs = 0;
  lastStopMs = 0;
  /** @type {Map<string, number>} when each handler that told its name started first */
  startedAtMs = new Map();
  /** @type {number[] | undefined} */
  #pids;
  #end;
  /** @type {Set<() => void>} */
  #waiting = new Set();

  /**
   * @param {number[] | undefined} pids
   * @param {() => void} end
   */
  constructor(pids, end) {
    this.#pids = pids;
    this.#end = end;
  }

  end() {
    this.#end();
  }

  /** @param {Counts} counts */
  take({ pid, started, stopped, firstStartMs, lastStartMs, lastStopMs, named }) {
    if (this.#pids !== undefined && !this.#pids.includes(pid)) return;
    this.started += started;
    this.stopped += stopped;
    if (started > 0 && (this.firstStartMs === 0 || firstStartMs < this.firstStartMs)) this.firstStartMs = firstStartMs;
    this.lastStartMs = Math.max(this.lastStartMs, lastStartMs);
    this.lastStopMs = Math.max(this.lastStopMs, lastStopMs);
    for (const [name, atMs] of named) if (!this.startedAtMs.has(name)) this.startedAtMs.set(name, atMs);
    for (const look of [...this.#waiting]) look();
  }

  /**
   * @param {number} count
   * @param {number} [timeoutMs]
   */
  untilStarted(count, timeoutMs) {
    return this.until(() => this.started >= count, `${count} handlers to run`, timeoutMs);
  }

  /**
   * @param {number} count
   * @param {number} [timeoutMs]
   */
  untilStopped(count, timeoutMs) {
    return this.until(() => this.stopped >= count, `${count} handlers to be told to stop`, timeoutMs);
  }

  /**
   * @param {() => boolean} holds looked at whenever something is told
   * @param {string} what
   * @param {number} [timeoutMs]
   * @returns {Promise<void>}
   */
  until(holds, what, timeoutMs = 120_000) {
    if (holds()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        reject(
          new MeterTimeout(`Waited ${timeoutMs / 1_000} s for ${what}; ${this.started} started, ${this.stopped} stopped.`),
        );
      }, timeoutMs);
      const look = () => {
        if (!holds()) return;
        this.#waiting.delete(look);
        clearTimeout(timer);
        resolve();
      };
      this.#waiting.add(look);
    });
  }
}

/** What was waited for has not happened in time. */
export class MeterTimeout extends Error {}
