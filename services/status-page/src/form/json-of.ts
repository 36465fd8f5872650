export type ReadJson = { value: unknown } | { error: string };

/** What was typed as JSON. */
export function jsonOf(text: string): ReadJson {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { error: `is not JSON: ${(error as Error).message}` };
  }
}
