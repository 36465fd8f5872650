import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const INDEX = "docs/README.md";
const KINDS = ["Tutorials", "How-to guides", "Reference", "Explanation"];
const text = readFileSync(INDEX, "utf8");
const entries = [...text.matchAll(/^- (.*)$/gm)].map(([, entry = ""]) => entry);
const targets = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, target = ""]) => target);

test("the index has every page of docs/ in exactly one place", () => {
  const pages = readdirSync("docs", { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.endsWith(".md") && file !== "README.md");
  expect(pages.length).toBeGreaterThan(80);
  expect(targets.filter((target) => !target.startsWith("../")).toSorted()).toEqual(pages.toSorted());
});

test("every page has one line, below one of the four kinds", () => {
  expect([...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)).toEqual(KINDS);
  expect(text.slice(0, text.indexOf(`## ${KINDS[0]}`))).not.toContain("](");
  expect(entries.filter((entry) => !/^\[[^\]]+\]\([^)]+\): \S.*\.$/.test(entry))).toEqual([]);
  expect(entries).toHaveLength(targets.length);
});

test("no link of it is dead, and the README leads to it", () => {
  const dead = targets.filter((target) => !existsSync(join("docs", target.split("#")[0] ?? "")));
  expect(dead).toEqual([]);
  expect(readFileSync("README.md", "utf8")).toContain("](docs/README.md)");
});
