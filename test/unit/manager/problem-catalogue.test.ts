import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PROBLEMS, type ProblemCode, ProblemDetails, problemType } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import { toProblemDetails } from "../../../services/observer-manager/src/operations/problem-details.ts";
import { openApi } from "../../support/rest/rest-contract.ts";

const CODES = Object.keys(PROBLEMS) as ProblemCode[];
const SOURCES = join(import.meta.dirname, "../../../services/observer-manager/src");

describe("the catalogue of problems", () => {
  it("holds no code that nothing in the manager answers with", () => {
    const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
    expect(files.length).toBeGreaterThan(30);
    const text = files.map((file) => readFileSync(join(SOURCES, file), "utf8")).join("\n");
    expect(CODES.filter((code) => !text.includes(`"${code}"`))).toEqual([]);
  });

  it("is told whole by the OpenAPI document's calls, but for those of paths and methods that are none", () => {
    const calls = JSON.stringify(openApi().paths);
    expect(CODES.filter((code) => !calls.includes(`\`${code}\``))).toEqual(["not-found", "method-not-allowed"]);
  });

  it("is in the document's introduction, each with its remedy", () => {
    const { description } = openApi().info;
    for (const code of CODES) expect(description).toContain(`| \`${code}\` | ${PROBLEMS[code].status} |`);
    for (const code of CODES) expect(description).toContain(PROBLEMS[code].remedy);
  });

  it("gives each code a status of an error, a title and a remedy, and each answer the shape of the document", () => {
    for (const code of CODES) {
      const problem = toProblemDetails({ kind: "problem", code }, "r-1");
      expect(ProblemDetails.parse(problem)).toEqual(problem);
      expect(problem).toMatchObject({ type: problemType(code), code, requestId: "r-1" });
      expect(problem.status).toBeGreaterThanOrEqual(400);
      expect(problem.title.length).toBeGreaterThan(5);
      expect(problem.remedy.length).toBeGreaterThan(5);
      expect(problem.retryAfterS !== undefined, code).toBe(problem.status === 503 || problem.status === 429);
    }
  });
});
