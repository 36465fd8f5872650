import { PROBLEMS } from "./problems.ts";

/** The catalogue as a table in Markdown, for docs/problems.md and the OpenAPI document. */
export function problemTable(): string {
  const rows = Object.entries(PROBLEMS).map(
    ([code, { status, title, remedy }]) => `| \`${code}\` | ${status} | ${title} | ${remedy} |`,
  );
  return ["| code | status | what | what to do |", "| --- | --- | --- | --- |", ...rows].join("\n");
}
