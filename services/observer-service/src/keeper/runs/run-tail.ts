import { inspect } from "node:util";
import type { ErrorText, KeptEntry, LogLevel } from "@unacked/contracts";
import { redacted } from "../../bounded-line.ts";
import { errorText, sendableText } from "../../error-text.ts";

const MAX_LINES = 100;
const MAX_VALUES = 20;
/** What an entry costs in bytes beside its texts. */
const ENTRY_BYTES = 128;

const MAX_RUN_BYTES = 32_768;
const MIN_RUN_BYTES = 2_048;
/** What the tails of all runs may cost together: the more workers, the less for each. */
const ALL_RUNS_BYTES = 67_108_864;

/** How many bytes the tail of one run may take, depending on how many runs there can be. */
export const tailBytesOf = (workerCount: number): number =>
  Math.max(MIN_RUN_BYTES, Math.min(MAX_RUN_BYTES, Math.floor(ALL_RUNS_BYTES / workerCount)));

/**
 * The last lines and the last emitted values of one run, for those who ask. They are only in memory, and gone with the
 * process. Bounded by count and by bytes, lines and values separately, so that a run that emits much does not push out its
 * own errors. It holds what the handler gave to `log` and `emit`, and what it threw.
 */
export class RunTail {
  readonly #lines: Ring;
  readonly #values: Ring;
  /** The bound of a message, and of the JSON beside it: several must fit. */
  readonly #maxText: number;
  #lastSeq = 0;
  #closed = false;

  constructor(maxBytes: number) {
    this.#lines = new Ring(MAX_LINES, Math.floor((maxBytes * 3) / 4));
    this.#values = new Ring(MAX_VALUES, Math.floor(maxBytes / 4));
    this.#maxText = Math.floor(maxBytes / 8);
  }

  /** The number of the last entry; 0 means none yet. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  get bytes(): number {
    return this.#lines.bytes + this.#values.bytes;
  }

  line(level: LogLevel, message: string, fields: LineFields): void {
    if (this.#closed) return;
    const text = copied(message, this.#maxText);
    const json = fields === undefined ? undefined : fieldsJson(fields, this.#maxText);
    const cut = text.cut || json?.cut === true;
    this.#lines.add({ ...this.#stamp(), level, message: text.text, ...(json && { json: json.text }), cut });
  }

  /** Lines that were never heard count as said: who finds one missing sees that it was. */
  dropped(lines: number): void {
    if (this.#closed) return;
    this.#lastSeq += lines;
    const message = `${lines} ${lines === 1 ? "line was" : "lines were"} dropped: it logs faster than its lines can be written`;
    this.#lines.add({ ...this.#stamp(), level: "warn", message, cut: false });
  }

  /** Adds why an attempt failed, as the handler itself need not have logged anything. */
  thrown(what: string, error: ErrorText): void {
    if (!this.#closed) this.#addThrown(what, error);
  }

  /** Adds what the handler does after its end, even if the run is over. */
  late(what: string, error: ErrorText | undefined): void {
    if (error !== undefined) this.#addThrown(what, error);
    else this.#lines.add({ ...this.#stamp(), level: "warn", message: what, cut: false });
  }

  #addThrown(what: string, { name, message, stack }: ErrorText): void {
    const text = copied(`${what}: ${name}: ${message}`, this.#maxText);
    const where = stack === undefined ? undefined : copied(stack, this.#maxText);
    const cut = text.cut || where?.cut === true;
    this.#lines.add({
      ...this.#stamp(),
      level: "error",
      message: text.text,
      ...(where && { stack: where.text }),
      cut,
    });
  }

  /** @param json already written as JSON */
  value(json: string): void {
    if (this.#closed) return;
    const { text, cut } = copied(json, this.#maxText);
    this.#values.add({ ...this.#stamp(), json: text, cut });
  }

  /** The run is over, so a timer that it left behind adds nothing more. */
  close(): void {
    this.#closed = true;
  }

  /** The entries after `seq`: the newest `limit` of them, oldest first. */
  after(seq: number, limit: number): KeptEntry[] {
    const said = [...this.#lines.entries, ...this.#values.entries].filter((entry) => entry.seq > seq);
    return limit === 0 ? [] : said.toSorted((a, b) => a.seq - b.seq).slice(-limit);
  }

  #stamp(): { seq: number; at: number } {
    this.#lastSeq += 1;
    return { seq: this.#lastSeq, at: Date.now() };
  }
}

/** The newest entries, as many as fit. */
class Ring {
  readonly entries: KeptEntry[] = [];
  readonly #maxCount: number;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxCount: number, maxBytes: number) {
    this.#maxCount = maxCount;
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(entry: KeptEntry): void {
    this.entries.push(entry);
    this.#bytes += sizeOf(entry);
    while (this.entries.length > this.#maxCount || this.#bytes > this.#maxBytes) {
      const oldest = this.entries.shift();
      if (oldest !== undefined) this.#bytes -= sizeOf(oldest);
    }
  }
}

const sizeOf = ({ message = "", json = "", stack = "" }: KeptEntry): number =>
  ENTRY_BYTES + message.length + json.length + stack.length;

type Kept = { text: string; cut: boolean };

/** A copy, even if nothing is cut: a slice or a concatenation keeps the texts that it is made of in memory. */
const copied = (text: string, maxLength: number): Kept => ({
  text: sendableText(text, maxLength),
  cut: text.length > maxLength,
});

/** The fields of a long line were cut to a text in their slot. */
type LineFields = object | string | undefined;

/** Fields may be anything. What has no JSON is kept as Node would print it, and as that is not JSON it counts as cut. */
function fieldsJson(fields: object | string, maxLength: number): Kept {
  if (typeof fields === "string") return { text: copied(fields, maxLength).text, cut: true };
  try {
    return copied(JSON.stringify(fields, asLogged), maxLength);
  } catch {
    return { text: copied(printed(fields), maxLength).text, cut: true };
  }
}

/** JSON has `{}` for an error, which is what is logged most. */
const asLogged = (key: string, value: unknown): unknown =>
  value instanceof Error ? errorText(value) : redacted(key, value);

function printed(fields: object): string {
  try {
    const shown = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, redacted(key, value)]));
    return inspect(shown, { depth: 0, maxStringLength: 1_000, maxArrayLength: 20, breakLength: Number.POSITIVE_INFINITY });
  } catch {
    return "(the fields could not be written)"; // the fields have code of their own, which throws
  }
}
