/** Something that views follow: they are told that it changed, and look for themselves. */
export class Signal {
  readonly #listeners = new Set<() => void>();
  #version = 0;

  get version(): number {
    return this.#version;
  }

  /** Bound, as React takes it from its object. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly getVersion = (): number => this.#version;

  tell(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}
