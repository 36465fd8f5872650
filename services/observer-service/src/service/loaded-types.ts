import type { ObserverTypeInfo } from "@unacked/contracts";
import type { Handlers } from "../keeper/runs/handlers.ts";

/** The types of observers, as the folder was loaded last. */
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

  /** Its runs begin when the books have admitted them. */
  asksFirst(type: string): boolean {
    return this.#types.get(type)?.start === "admitted";
  }

  /** Its runs tell where they have got to. */
  saves(type: string): boolean {
    return this.#types.get(type)?.checkpointSchema !== undefined;
  }
}
