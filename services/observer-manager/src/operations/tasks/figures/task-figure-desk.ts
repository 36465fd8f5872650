import { MAX_FIGURES, type TaskFigures, type TaskFiguresNow } from "@unacked/contracts";
import { grouped } from "../../../domain/grouped.ts";
import { barsSinceMs, type FigureSpan, SPAN_MS, startOf } from "../../../domain/tasks/figure-bars.ts";
import {
  type FigureRow,
  minutesSinceMs,
  overviewOf,
  type TaskFiguresUndrawn,
  undrawnOf,
} from "../../../domain/tasks/figures-overview.ts";
import { addFigures, toldOf } from "../../../domain/tasks/task-figures.ts";
import type { Refusal } from "../../refusal.ts";
import type { TaskFigureTools } from "../task-tools.ts";
import type { TaskFigureStore } from "./task-figure-store.ts";

/** So many are told if nobody says since when. */
const USUAL = { minute: 60, hour: 48 } as const;

type FigureReads = Omit<TaskFigureStore, "fold" | "forgetOld">;

/** Figures of task types, as they are asked for. */
export class TaskFigureDesk implements TaskFigureTools {
  readonly #store: FigureReads;

  constructor(store: FigureReads) {
    this.#store = store;
  }

  async listTaskFigures(by: FigureSpan): Promise<TaskFiguresNow> {
    const nowMs = await this.#store.nowMs();
    const [minutes, hours, standings] = await Promise.all([
      this.#store.read({ by: "minute", sinceMs: minutesSinceMs(nowMs) }),
      by === "minute" ? [] : this.#store.read({ by, sinceMs: barsSinceMs(by, nowMs) }),
      this.#store.standings(),
    ]);
    return overviewOf(by, nowMs, { minutes, bars: by === "minute" ? minutes : hours, standings });
  }

  /** By the minute, as each scrape has it. Nobody draws these, so no bars are made. */
  async taskFiguresUndrawn(): Promise<TaskFiguresUndrawn> {
    const nowMs = await this.#store.nowMs();
    const [minutes, standings] = await Promise.all([
      this.#store.read({ by: "minute", sinceMs: minutesSinceMs(nowMs) }),
      this.#store.standings(),
    ]);
    return undrawnOf("minute", nowMs, { minutes, standings });
  }

  async getTaskFigures(
    type: string,
    { by, since, pool }: { by: FigureSpan; since?: string | undefined; pool?: string | undefined },
  ): Promise<TaskFigures | Refusal> {
    const now = startOf(await this.#store.nowMs(), by);
    const asked = since === undefined ? now - (USUAL[by] - 1) * SPAN_MS[by] : startOf(Date.parse(since), by);
    const sinceMs = Math.max(asked, now - (MAX_FIGURES[by] - 1) * SPAN_MS[by]);
    const rows = await this.#store.read({ by, sinceMs, type, pool });
    if (rows.length === 0 && !(await this.#store.isKnown(type))) return { kind: "problem", code: "task-type-not-found" };
    return { type, by, items: itemsOf(rows) };
  }
}

function itemsOf(rows: readonly FigureRow[]): TaskFigures["items"] {
  return [...grouped(rows, ({ atMs }) => atMs)]
    .toSorted(([a], [b]) => a - b)
    .map(([atMs, some]) => ({ at: new Date(atMs).toISOString(), ...toldOf(addFigures(some)) }));
}
