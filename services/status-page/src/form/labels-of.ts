export type ReadLabels = { labels: Record<string, string> } | { error: string };

/** `team=prices, env=prod`, by commas or spaces. Empty: none. */
export function labelsOf(text: string): ReadLabels {
  const labels: Record<string, string> = {};
  for (const pair of text.split(/[\s,]+/).filter((each) => each !== "")) {
    const [key = "", value = "", ...more] = pair.split("=");
    if (key === "" || value === "" || more.length > 0) return { error: `"${pair}" is not key=value` };
    labels[key] = value;
  }
  return { labels };
}
