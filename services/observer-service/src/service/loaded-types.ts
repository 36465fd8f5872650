import type { ObserverTypeInfo } from "@unacked/contracts";
import type { Handlers } from "../keeper/runs/handlers.ts";

/** The types of observers from the last load of the folder. */
export class LoadedTypes {
  readonly #handlers: Pick<Handlers, "catalogue">;
  readonly #types = new Map<string, ObserverTypeInfo>();

  constructor(handlers: Pick<Handlers, "catalogue">) {
    this.#handlers = handlers;
    this.learn();
  }

  /** The folder has been loaded again. */
  learn(): void {
    this.#types.clear();
    for (const info of this.#handlers.catalogue.types) this.#types.set(info.type, info);
  }

  has(type: string): boolean {
    return this.#types.has(type);
  }

  /** Whether its runs begin only after the manager has admitted them. */
  asksFirst(type: string): boolean {
    return this.#types.get(type)?.start === "admitted";
  }

  /** Whether its runs save how far they have got. */
  saves(type: string): boolean {
    return this.#types.get(type)?.checkpointSchema !== undefined;
  }
}
