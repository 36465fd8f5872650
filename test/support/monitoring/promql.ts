/** A series that a query reads, with the labels it is chosen by. */
export interface Selector {
  series: string;
  labels: string[];
}

const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const WORDS = new Set([
  "and",
  "or",
  "unless",
  "bool",
  "offset",
  "by",
  "without",
  "on",
  "ignoring",
  "group_left",
  "inf",
  "nan",
]);

/** Every series that a PromQL expression names. What it calls (`rate(`) and the words of the language are left out. */
export function selectorsIn(expression: string): Selector[] {
  const text = expression
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
    .replaceAll(GROUPING, " ")
    .replaceAll(/\[[^\]]*\]/g, " ");
  return [...text.matchAll(/([a-zA-Z_:][\w:]*)\s*(\(|\{([^}]*)\})?/g)]
    .filter(([, name = "", after]) => after !== "(" && !WORDS.has(name))
    .map(([, series = "", , matchers = ""]) => ({
      series,
      labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label),
    }));
}

/** Every label that an expression groups or joins by. */
export const groupingLabelsIn = (expression: string): string[] =>
  [...expression.matchAll(GROUPING)].flatMap(([, labels = ""]) => labels.split(",").flatMap((label) => label.trim() || []));
