/**
 * A process that dies at one of its calls of a port, before it is made or after it has had its effect. From then on no call is made
 * and none comes back.
 */
export class Dying {
  readonly #at: number;
  readonly #when: "before" | "after";
  readonly #never = new Promise<never>(() => {});
  readonly #calls: string[] = [];
  #isDead = false;
  #tellDeath: () => void = () => {};
  readonly died: Promise<void>;

  /** @param at the how many-th call it dies at, from 1 */
  constructor(at: number, when: "before" | "after") {
    this.#at = at;
    this.#when = when;
    this.died = new Promise((resolve) => {
      this.#tellDeath = resolve;
    });
  }

  /** What it has called so far, its last call included. */
  get calls(): readonly string[] {
    return this.#calls;
  }

  /** The same port, as that process calls it; `passing` are no steps: calls that change nothing. */
  port<T extends object>(real: T, passing: readonly (keyof T)[] = []): T {
    return new Proxy(real, {
      get: (target, name, self) => {
        const member: unknown = Reflect.get(target, name, self);
        if (typeof member !== "function") return member;
        const call = (...given: unknown[]): unknown => Reflect.apply(member, target, given);
        return passing.includes(name as keyof T)
          ? call
          : (...given: unknown[]) => this.#step(String(name), () => call(...given));
      },
    });
  }

  async #step(name: string, call: () => unknown): Promise<unknown> {
    if (this.#isDead) return this.#never;
    this.#calls.push(name);
    const isLast = this.#calls.length === this.#at;
    if (isLast) this.#isDead = true;
    if (!isLast) return call();
    if (this.#when === "after") await Promise.resolve(call()).catch(() => "failed, which nobody is left to hear of");
    this.#tellDeath();
    return this.#never;
  }
}

export interface Death {
  at: number;
  when: "before" | "after";
  /** The call at which it dies. */
  step: string;
}

/** Every death that a process can die in this flow, which is gone through once without one. */
export async function deathsIn(flow: (process: Dying) => Promise<unknown>): Promise<Death[]> {
  const process = new Dying(Number.POSITIVE_INFINITY, "after");
  await flow(process);
  return process.calls.flatMap((step, i) => (["before", "after"] as const).map((when) => ({ at: i + 1, when, step })));
}
