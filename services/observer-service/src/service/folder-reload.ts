import type { Drain } from "../keeper/intake/drain.ts";
import type { Reload } from "../keeper/runs/handlers.ts";
import type { Runner } from "../keeper/runs/runner.ts";
import type { TaskSide } from "../keeper/tasks/task-side.ts";
import type { LoadedTypes } from "./loaded-types.ts";
import { ReloadOrders } from "./reload-orders.ts";
import { Reloading } from "./reloading.ts";
import type { ServiceParts } from "./service-parts.ts";
import type { ServiceVoice } from "./service-voice.ts";

export interface FolderReloadParts extends Pick<ServiceParts, "handlers" | "onReload"> {
  readonly types: Pick<LoadedTypes, "learn">;
  readonly runner: Pick<Runner, "renew">;
  readonly tasks: Pick<TaskSide, "learnTypes">;
  readonly drain: Pick<Drain, "begun">;
  readonly voice: Pick<ServiceVoice, "introduction" | "tell" | "isHeard">;
  /** Whether it has a session by which it was introduced. */
  readonly isIntroduced: () => boolean;
  readonly isEnding: () => boolean;
  /** Makes this process fail. */
  readonly fail: (error: unknown) => Promise<void>;
}

const DRAINS: Reload = { kind: "refused", why: "this service drains", broken: [] };

/** Loads the folder again, by SIGHUP or by an order, and informs everybody: the manager, the tasks' side, and runs of older code. */
export class FolderReload {
  readonly #parts: FolderReloadParts;
  readonly #reloading = new Reloading(() => this.#reload());
  readonly #orders: ReloadOrders;

  constructor(parts: FolderReloadParts) {
    this.#parts = parts;
    this.#orders = new ReloadOrders({
      reload: () => this.ask(),
      tell: (event) => {
        if (parts.voice.isHeard && !parts.isEnding()) parts.voice.tell(event);
      },
    });
  }

  /** Undefined if this service ends. Never rejects. */
  async ask(): Promise<Reload | undefined> {
    try {
      return await this.#reloading.ask();
    } catch (error) {
      await this.#parts.fail(error);
      return undefined;
    }
  }

  /** The manager repeats its order until it has heard the answer. */
  askedByOrder(reloadId: string): void {
    const { isEnding, fail } = this.#parts;
    if (isEnding()) return;
    this.#orders.take(reloadId).catch(fail);
  }

  async #reload(): Promise<Reload | undefined> {
    const { handlers, onReload, types, voice, tasks, runner, drain, isIntroduced, isEnding } = this.#parts;
    const isDraining = isEnding() || drain.begun;
    const reload: Reload = isDraining ? DRAINS : await handlers.reload();
    if (isEnding() && !isDraining) return undefined;
    onReload(reload);
    if (reload.kind === "refused") return reload;
    types.learn();
    // Without a session nobody would hear it. The birth in the next one tells the types.
    if (isIntroduced()) voice.tell(voice.introduction());
    tasks.learnTypes();
    runner.renew(reload.kind === "loaded" ? reload : {});
    return reload;
  }
}
