import { relative } from "node:path";

/** Of an error, enough to know what it was about; the rest stands above, where the test ran. */
const LINES = 12;

/**
 * What failed, told once more at the end: the runs before the last one are thousands of lines up, and whoever keeps only
 * the end of an output (a CI) still sees it.
 *
 * @param {import("./tally.mjs").Report | null} report null when there is none
 * @param {string} root of the repository
 * @returns {string[]} a paragraph each: the file and the test, then the beginning of its error
 */
export function failuresOf(report, root) {
  return (report?.testResults ?? []).flatMap((file) => {
    const path = relative(root, file.name ?? "");
    const failed = file.assertionResults.filter((test) => test.status === "failed");
    if (file.status === "failed" && failed.length === 0) return [paragraph(path, file.message)];
    return failed.map((test) => paragraph(`${path} > ${test.fullName}`, test.failureMessages?.join("\n")));
  });
}

/** @param {string} what @param {string | undefined} error */
function paragraph(what, error = "") {
  const lines = error.split("\n").filter((line) => line.trim() !== "");
  const rest = lines.length > LINES ? ["…"] : [];
  return [`✗ ${what}`, ...[...lines.slice(0, LINES), ...rest].map((line) => `    ${line}`)].join("\n");
}
