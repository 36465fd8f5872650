import type { FromSlot } from "../wire/messages.ts";

interface Waiting {
  resolve(): void;
  reject(error: Error): void;
}

/** Sends the checkpoints of all handlers of a slot, one of each at a time, to the keeper, which answers each. */
export class WireSaves {
  readonly #send: (message: FromSlot) => void;
  readonly #underWay = new Map<number, Waiting>();
  #last = 0;

  constructor(send: (message: FromSlot) => void) {
    this.#send = send;
  }

  save(attempt: number, json: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#last += 1;
      this.#underWay.set(this.#last, { resolve, reject });
      this.#send({ kind: "save", attempt, save: this.#last, json });
    });
  }

  answered(save: number, error: { name: string; message: string; code?: string } | undefined): void {
    const waiting = this.#underWay.get(save);
    this.#underWay.delete(save);
    if (error === undefined) waiting?.resolve();
    else waiting?.reject(Object.assign(new Error(error.message), error));
  }
}
