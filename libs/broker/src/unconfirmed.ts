export interface SentMessage {
  readonly messageId: string;
  /** Monotonic, ms. */
  readonly sentAtMs: number;
}

export interface Settled<T> {
  sent: T;
  /** Why no queue took it, if it came back. */
  returned: string | undefined;
}

/** The messages that one channel sent and that are not confirmed, by tag, in the order of sending. Pure bookkeeping. */
export class Unconfirmed<T extends SentMessage> {
  readonly #byTag = new Map<number, T>();
  readonly #returned = new Map<number, string>();
  #lastTag = 0;
  /** Returns come in the order of sending: the next one is looked for from here. */
  #nextReturn = 0;

  get size(): number {
    return this.#byTag.size;
  }

  add(tag: number, sent: T): void {
    this.#byTag.set(tag, sent);
    this.#lastTag = tag;
  }

  /** A return names no tag, only the message: it means the oldest with that id that has not come back. */
  markReturned(messageId: string, why: string): void {
    const tag = this.#unreturned(messageId, this.#nextReturn) ?? this.#unreturned(messageId, 0);
    if (tag === undefined) return;
    this.#returned.set(tag, why);
    this.#nextReturn = tag + 1;
  }

  #unreturned(messageId: string, from: number): number | undefined {
    const oldest = this.#byTag.keys().next().value;
    if (oldest === undefined) return undefined;
    for (let tag = Math.max(from, oldest); tag <= this.#lastTag; tag += 1)
      if (this.#byTag.get(tag)?.messageId === messageId && !this.#returned.has(tag)) return tag;
    return undefined;
  }

  /** Takes out the message with this tag or, with `multiple`, all up to it. Ignores unknown tags. */
  settle(tag: number, multiple: boolean): Settled<T>[] {
    if (!multiple) return this.#byTag.has(tag) ? [this.#take(tag)] : [];
    const settled: Settled<T>[] = [];
    for (const each of this.#byTag.keys()) {
      if (each > tag) break;
      settled.push(this.#take(each));
    }
    return settled;
  }

  /** Takes out all that were sent before this moment. */
  takeSentBefore(momentMs: number): T[] {
    const taken: T[] = [];
    for (const [tag, { sentAtMs }] of this.#byTag) {
      if (sentAtMs >= momentMs) break;
      taken.push(this.#take(tag).sent);
    }
    return taken;
  }

  takeAll(): T[] {
    return this.takeSentBefore(Number.POSITIVE_INFINITY);
  }

  /** When the oldest message was sent. Undefined if there is none. */
  get oldestSentAtMs(): number | undefined {
    return this.#byTag.values().next().value?.sentAtMs;
  }

  #take(tag: number): Settled<T> {
    const sent = this.#byTag.get(tag) as T;
    const returned = this.#returned.get(tag);
    this.#byTag.delete(tag);
    if (returned !== undefined) this.#returned.delete(tag);
    return { sent, returned };
  }
}
