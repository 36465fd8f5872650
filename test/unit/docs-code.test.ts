import { execFile, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { type CodeBlock, codeBlocksOf } from "../support/docs/code-blocks.ts";
import { pages } from "../support/docs/pages.ts";

const run = promisify(execFile);
const blocks = pages.flatMap((page) => codeBlocksOf(page, readFileSync(page, "utf8")));
/** What of each language is held to something. What is only shown: pictures, terminals, settings of others. */
const COMPILED = ["ts", "js"];
const PARSED = ["json", "yaml", "sh", "python"];
const SHOWN = ["text", "mermaid", "ini", "nginx"];
/** By test/integration/docs-sql.test.ts, on a real database. */
const RUN = ["sql"];

const whole = (...languages: string[]) =>
  blocks.filter(({ language, fragment }) => languages.includes(language) && fragment === undefined);
const placeOf = ({ page, line }: CodeBlock) => `${page}:${line}`;
/** What is wrong with each block, by its place. */
const flawsOf = (of: CodeBlock[], flawOf: (text: string) => string | undefined) =>
  of.flatMap((block) => {
    const flaw = flawOf(block.text);
    return flaw === undefined ? [] : [`${placeOf(block)}: ${flaw}`];
  });
const thrown = (act: () => unknown): string | undefined => {
  try {
    act();
    return undefined;
  } catch (error) {
    return String(error);
  }
};

/** Where the blocks of a page are compiled, each page by itself. */
const folderOf = (page: string) => page.replace(/\.md$/, "").replaceAll("/", "-");

/** Below the packages, so that the files find the SDK as they would in a project of their own. */
const BELOW = "node_modules/.unacked-docs";
mkdirSync(BELOW, { recursive: true });
const dir = mkdtempSync(join(BELOW, "blocks-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe("the code of the pages", () => {
  test(`in TypeScript fits its types, and in JavaScript parses, each page in a folder with what it imports (${countsOf(COMPILED)})`, async () => {
    for (const page of pages) {
      const beside = join("test/fixtures", page.replace(/\.md$/, ""));
      if (existsSync(beside)) cpSync(beside, join(dir, folderOf(page)), { recursive: true });
    }
    const files = whole(...COMPILED).map((block) => {
      const file = join(folderOf(block.page), block.file ?? `line-${block.line}.${block.language}`);
      expect(existsSync(join(dir, file)), `${placeOf(block)}: another file has the name ${file}`).toBe(false);
      mkdirSync(dirname(join(dir, file)), { recursive: true });
      writeFileSync(join(dir, file), block.text);
      return file;
    });
    const compilerOptions = {
      ...{ noEmit: true, strict: true, module: "nodenext", target: "es2023", moduleDetection: "force" },
      ...{ allowJs: true, allowImportingTsExtensions: true, skipLibCheck: true, types: ["node"] },
    };
    writeFileSync(join(dir, "package.json"), '{ "type": "module" }');
    writeFileSync(join(dir, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
    const compiler = resolve("node_modules/typescript/bin/tsc");
    const compiling = run(process.execPath, [compiler, "-p", "."], { cwd: dir });
    expect(await compiling.catch(({ stdout, stderr }) => ({ stdout, stderr, failed: true }))).toEqual({
      stdout: "",
      stderr: "",
    });
  }, 240_000);

  test("has no helper beside a type, where a service takes each file for one", () => {
    const isType = (text: string) => /^export default (define(Observer|Task)|restrictObserver)\(/m.test(text);
    const types = whole("ts").filter(({ text }) => isType(text));
    expect(types.length).toBeGreaterThan(10);
    const textOf = (page: string, file: string): string => {
      const shown = blocks.find((block) => block.page === page && block.file === file);
      return shown?.text ?? readFileSync(join("test/fixtures", page.replace(/\.md$/, ""), file), "utf8");
    };
    const helpers = types.flatMap(({ page, file = "", text }) =>
      [...text.matchAll(/ from "\.\/([^/"]+)"/g)]
        .filter(([, beside = ""]) => !isType(textOf(page, join(dirname(file), beside))))
        .map(([, beside]) => `${page}: ${beside}`),
    );
    expect(helpers).toEqual([]);
  });

  test(`in JSON and YAML parses (${countsOf(["json", "yaml"])})`, () => {
    expect(flawsOf(whole("json"), (text) => thrown(() => JSON.parse(text)))).toEqual([]);
    expect(flawsOf(whole("yaml"), (text) => parseAllDocuments(text).flatMap(({ errors }) => errors)[0]?.message)).toEqual(
      [],
    );
  });

  test(`for a shell is read by one (${countsOf(["sh"])})`, () => {
    const read = (input: string) => spawnSync("bash", ["-n"], { input, encoding: "utf8" });
    expect(flawsOf(whole("sh"), (text) => read(text).stderr || undefined)).toEqual([]);
  });

  const hasPython = spawnSync("python3", ["--version"]).status === 0;
  if (!hasPython) console.warn("skipped: there is no python3 here");
  test.skipIf(!hasPython)(`in Python is read by it (${countsOf(["python"])})`, () => {
    const read = (input: string) =>
      spawnSync("python3", ["-c", "import ast, sys; ast.parse(sys.stdin.read())"], { input, encoding: "utf8" });
    expect(flawsOf(whole("python"), (text) => read(text).stderr || undefined)).toEqual([]);
  });

  test("is in a language that this test knows, and what cannot stand alone says why", () => {
    const known = [...COMPILED, ...PARSED, ...RUN, ...SHOWN];
    expect(blocks.filter(({ language }) => !known.includes(language)).map(placeOf)).toEqual([]);
    const fragments = blocks.filter(({ fragment }) => fragment !== undefined);
    console.info(
      `code of the pages: ${countsOf(COMPILED)} compiled; ${countsOf(PARSED)} parsed; ${countsOf(RUN)} run elsewhere; ${countsOf(SHOWN)} shown; ${fragments.length} fragments` +
        fragments.map((block) => `\n  ${placeOf(block)}: ${block.fragment}`).join(""),
    );
    expect(blocks.length).toBeGreaterThan(100);
  });
});

function countsOf(languages: string[]): string {
  return languages.map((language) => `${whole(language).length} ${language}`).join(", ");
}

test("a block that no test could judge is refused with its place", () => {
  const read = (text: string) => codeBlocksOf("page.md", text);
  expect(read("a\n```ts file=src/a.ts\nlet a;\n\nlet b;\n```\n")).toEqual([
    { page: "page.md", line: 2, language: "ts", file: "src/a.ts", text: "let a;\n\nlet b;\n" },
  ]);
  expect(read("```ts fragment: of a definition\n```")).toMatchObject([{ fragment: "of a definition", text: "" }]);
  expect(() => read("\n```\nx\n```")).toThrow("page.md:2: a block needs a language");
  expect(() => read("```ts\nx")).toThrow("page.md:1: the block has no end");
  for (const words of ["fragment", "fragment:", "fragment: ", "no-check"])
    expect(() => read(`\`\`\`ts ${words}\n\`\`\``)).toThrow("page.md:1: behind the language stands");
});
