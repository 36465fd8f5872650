/** More names in one text help nobody, and ten thousand may be told them. */
export const MAX_NAMED = 10;

/** For people: the first of these names, and how many others there are. */
export function named(names: readonly string[]): string {
  const others = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} others` : "";
  return `${names.slice(0, MAX_NAMED).join(", ")}${others}`;
}
