import { setTimeout as sleep } from "node:timers/promises";
import type { LogAnswer, LogQuestion, LogReader } from "./log-source.ts";

/** A run is asked no more often than that, however many want to know. */
const SPACING_MS = 200;

interface Asker {
  question: LogQuestion;
  resolve(answer: LogAnswer): void;
}

/**
 * What several want to know of one run is one question: for the earliest line that any of them lacks. Those who ask in the
 * same turn go together, and those who come while it is asked, or within 200 ms of it, together next. A client that follows a run
 * asks again after an answer, so that its followers soon ask as one.
 */
export class SharedQuestions implements LogReader {
  readonly #reader: LogReader;
  /** Those for whom a run has yet to be asked, by run. */
  readonly #waiting = new Map<string, Asker[]>();

  constructor(reader: LogReader) {
    this.#reader = reader;
  }

  ask(question: LogQuestion): Promise<LogAnswer> {
    return new Promise((resolve) => {
      const key = `${question.serviceId} ${question.generation} ${question.runId}`;
      const waiting = this.#waiting.get(key);
      if (waiting) return void waiting.push({ question, resolve });
      const askers = [{ question, resolve }];
      this.#waiting.set(key, askers);
      setImmediate(() => void this.#serve(key, askers));
    });
  }

  async #serve(key: string, waiting: Asker[]): Promise<void> {
    while (waiting.length > 0) {
      const together = waiting.splice(0);
      const answer = await this.#reader.ask(merged(together.map(({ question }) => question)));
      for (const { question, resolve } of together) resolve(partFor(question, answer));
      await sleep(SPACING_MS, undefined, { ref: false });
    }
    this.#waiting.delete(key);
  }
}

/** Asks from the earliest place that any asks from, without a limit: each finds its own lines in the answer. */
function merged(questions: LogQuestion[]): LogQuestion {
  return questions.reduce((all, { afterSeq, limit }) => {
    const isSame = all.afterSeq === afterSeq && all.limit === limit;
    return isSame ? all : { ...all, afterSeq: Math.min(all.afterSeq, afterSeq), limit: MOST };
  });
}

/** It is more than a service keeps of a run. */
const MOST = 1_000;

function partFor({ afterSeq, limit }: LogQuestion, answer: LogAnswer): LogAnswer {
  if (typeof answer === "string") return answer;
  const later = answer.entries.filter(({ seq }) => seq > afterSeq);
  return { ...answer, entries: later.slice(Math.max(0, later.length - limit)) };
}
