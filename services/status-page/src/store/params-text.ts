/** Params as somebody has typed them. */
export function paramsOf(text: string): { params: unknown } | { flaw: string } {
  if (text.trim() === "") return { flaw: "is empty: params without anything are {}" };
  try {
    return { params: JSON.parse(text) as unknown };
  } catch (error) {
    return { flaw: `is no JSON: ${error instanceof Error ? error.message : "nobody can read it"}` };
  }
}

/** What the manager found, one a line, each with its place. */
export const sayFlaws = (flaws: readonly { pointer?: string | undefined; message: string }[]): string =>
  flaws.map(({ pointer = "", message }) => `${pointer.replace(/^\/params/, "") || "params"}: ${message}`).join("\n");
