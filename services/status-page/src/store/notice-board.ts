export interface Notice {
  id: number;
  tone: "done" | "refused";
  text: string;
}

const MOST = 4;

/** With one more. Where they are too many what went well goes; a refusal stays until it is dismissed, or said again. */
export function withNotice(all: readonly Notice[], next: Notice): Notice[] {
  const others = all.filter(({ tone, text }) => tone === "done" || next.tone === "done" || text !== next.text);
  let tooMany = others.length + 1 - MOST;
  return [...others.filter(({ tone }) => tone === "refused" || tooMany-- <= 0), next];
}
