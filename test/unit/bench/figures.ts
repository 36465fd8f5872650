import type { Figure } from "../../../bench/core/figures.mjs";

/** Figures as a run would give them. */
export const figure = (id: string, more: Partial<Figure> = {}): Figure => ({
  id,
  title: `about ${id}`,
  unit: "ms",
  better: "less",
  ours: [],
  ...more,
});

export const resultsOf = (...figures: Figure[]) => ({
  scenarios: [{ id: "made-up", number: 1, title: "made up", figures, notes: [] }],
});
