import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { manifestOf } from "../../scripts/pack/manifest.mjs";
import { PACKAGES } from "../../scripts/pack/packages.mjs";
import { copyTemplate } from "../../scripts/pack/template.mjs";
import { isGreater, isVersion } from "../../scripts/version/semver.mjs";
import { ROOT } from "../support/processes/processes.ts";
import { inTurn } from "../support/runs/turns.ts";

const PRESENT = (JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string }).version;
const NEXT = PRESENT.replace(/^\d+\.\d+/, "97.0");
/** What tells of the past, or of an example, and so keeps its version. */
const KEEPS_ITS_VERSION =
  /^(CHANGELOG\.md|docs\/upgrade\.md|.*\/src\/|observers\/outbound|test\/unit|test\/fixtures\/(messages|answers)|bench\/peers)/;
const MADE_OR_FOREIGN = /(^|\/)(node_modules|dist|bundle|packages|\.git|\.unacked|[^/]*\.tsbuildinfo)$/;
const filesIn = (root: string, folder = ""): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (MADE_OR_FOREIGN.test(path)) return [];
    return entry.isDirectory() ? filesIn(root, path) : entry.isFile() ? [path] : [];
  });
const isStated = new RegExp(`(?<![\\d.])${PRESENT.replaceAll(".", "\\.")}(?!\\.?\\d)`);
/** Every file of the repository that states the present version. */
const stating = filesIn(ROOT).filter((file) => isStated.test(readFileSync(join(ROOT, file), "utf8")));

const dir = mkdtempSync(join(tmpdir(), "unacked-version-"));
const tree = join(dir, "tree");
// What the script imports from npm.
symlinkSync(join(ROOT, "node_modules"), join(dir, "node_modules"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
/** The repository, of which those files and the script are enough. */
beforeEach(() => {
  rmSync(tree, { recursive: true, force: true });
  const others = ["scripts/progress.mjs", "scripts/version.mjs", "scripts/version", "create", "test/fixtures/releases.json"];
  for (const file of [...stating, ...others, `test/fixtures/messages/v${PRESENT}`])
    cpSync(join(ROOT, file), join(tree, file), { recursive: true });
});

const read = (file: string): string => readFileSync(join(tree, file), "utf8");
const edit = (file: string, change: (text: string) => string) => writeFileSync(join(tree, file), change(read(file)));
const announce = (version: string) =>
  edit("CHANGELOG.md", (text) => text.replace("## [", `## [${version}]\n\n- New.\n\n## [`));
const contents = () => filesIn(tree).map((file) => [file, read(file)]);
const setVersion = (...args: string[]) =>
  spawnSync(process.execPath, [join(tree, "scripts/version.mjs"), ...args], { cwd: dir, encoding: "utf8" });

describe("npm run release:version", () => {
  test("gives one version to all that state it, lock, images, manifests and docs, and to what is packed", () => {
    announce(NEXT);
    const { status, stderr } = setVersion(NEXT);
    expect(`${status} ${stderr}`).toBe("0 ");

    expect(stating.length).toBeGreaterThan(25);
    const forgotten = filesIn(tree).filter((file) => isStated.test(read(file)) && !KEEPS_ITS_VERSION.test(file));
    expect(forgotten.filter((file) => file !== "package-lock.json")).toEqual([]);
    expect(read("docker-compose.yml")).toContain(`image: unacked/observer-manager:${NEXT}`);
    expect(read("Dockerfile")).toContain(`image.version="${NEXT}"`);

    for (const published of PACKAGES) {
      const { version, dependencies = {} } = manifestOf(tree, published) as {
        version: string;
        dependencies?: Record<string, string>;
      };
      expect(version).toBe(NEXT);
      for (const [name, of] of Object.entries(dependencies)) if (name.startsWith("@unacked/")) expect(of).toBe(NEXT);
      if (published.kind === "template") copyTemplate(tree, published, join(dir, "packed"));
    }
    const project = readFileSync(join(dir, "packed/template/package.json"), "utf8");
    expect(project).toContain(`"@unacked/sdk": "${NEXT}"`);
    expect(project).toContain(`"unacked": "${NEXT}"`);
    expect(setVersion("--check").stdout).toContain(`all say ${NEXT}`);
  });

  test("leaves a lock that npm takes as it is", { timeout: 120_000 }, () => {
    announce(NEXT);
    expect(setVersion(NEXT).status).toBe(0);
    const npm = spawnSync("npm", ["ci", "--dry-run", "--ignore-scripts", "--offline"], { cwd: tree, encoding: "utf8" });
    expect(`${npm.status} ${npm.stderr}`).toMatch(/^0 /);
    edit("cli/package.json", (text) => text.replaceAll(NEXT, PRESENT)); // and that it looks at it
    const refused = spawnSync("npm", ["ci", "--dry-run", "--ignore-scripts", "--offline"], { cwd: tree, encoding: "utf8" });
    expect(refused.status).not.toBe(0);
  });

  test("begins the messages of a version with those of the one before, which stay where they were released", () => {
    const before = readdirSync(join(tree, "test/fixtures/messages", `v${PRESENT}`));
    edit("test/fixtures/releases.json", (text) => text.replace("{", `{ "${PRESENT}": "abc",`));
    announce(NEXT);
    expect(setVersion(NEXT).status).toBe(0);
    expect(readdirSync(join(tree, "test/fixtures/messages", `v${PRESENT}`))).toEqual(before);
    expect(readdirSync(join(tree, "test/fixtures/messages", `v${NEXT}`))).toEqual(before);
    expect(read(`test/fixtures/messages/v${NEXT}/EventBatch.ServiceBorn.json`)).toContain(`"version": "${NEXT}"`);
    expect(read(`test/fixtures/messages/v${PRESENT}/EventBatch.ServiceBorn.json`)).toContain(`"version": "${PRESENT}"`);
  });

  test("takes those of a version that was never released with it", () => {
    announce(NEXT);
    expect(setVersion(NEXT).status).toBe(0);
    expect(existsSync(join(tree, "test/fixtures/messages", `v${PRESENT}`))).toBe(false);
    expect(existsSync(join(tree, "test/fixtures/messages", `v${NEXT}`, "schemas.json"))).toBe(true);
  });

  test.each(
    inTurn([
      ["is not in the changelog", [NEXT], `CHANGELOG.md has no entry of ${NEXT}`],
      ["is no version", ["v1"], '"v1" is no version'],
      ["is the present one", [PRESENT], `${PRESENT} does not come after ${PRESENT}`],
      ["comes before the present one", ["0.0.1"], "0.0.1 does not come after"],
      ["is missing", [], "Usage: npm run release:version"],
      ["is one of two", [NEXT, "98.0.0"], "Usage: npm run release:version"],
    ]),
  )("refuses a version that %s, and changes nothing", (_, args, said) => {
    const before = contents();
    const { status, stderr } = setVersion(...args);
    expect(stderr).toContain(said);
    expect(status).toBe(1);
    expect(contents()).toEqual(before);
  });

  test("takes what stands below Unreleased for an entry, too", () => {
    edit("CHANGELOG.md", (text) => text.replace(/^## \[Unreleased\].*\n/m, `$&\nTo become ${NEXT}.\n`));
    expect(setVersion(NEXT).status).toBe(0);
  });

  test.each(
    inTurn([
      [
        "cli/package.json",
        `"@unacked/contracts": "${PRESENT}"`,
        '"@unacked/contracts": "0.0.9"',
        "cli/package.json says 0.0.9",
      ],
      ["libs/sdk/package.json", `"version": "${PRESENT}"`, '"version": "0.0.9"', "libs/sdk/package.json says 0.0.9"],
      [
        "k8s/base/observer-service.yaml",
        `-service:${PRESENT}`,
        "-service:0.0.9",
        "k8s/base/observer-service.yaml says 0.0.9",
      ],
      ["Dockerfile", `image.version="${PRESENT}"`, 'image.title="x"', "Dockerfile states no version any more"],
      [
        "package-lock.json",
        `"version": "${PRESENT}"`,
        '"version": "0.0.9"',
        "package-lock.json has another version of ours",
      ],
      ["CHANGELOG.md", PRESENT, "the next one", `CHANGELOG.md has no entry of ${PRESENT}`],
    ]),
  )("--check finds what %s says otherwise, and then no version is set", (file, said, otherwise, flaw) => {
    edit(file, (text) => text.replace(said, otherwise));
    expect(setVersion("--check").stderr).toContain(flaw);
    announce(NEXT);
    expect(setVersion(NEXT).stderr).toContain(flaw);
    expect(JSON.parse(read("package.json")).version).toBe(PRESENT);
  });
});

describe("versions", () => {
  test("come after each other as semver.org has it", () => {
    const ordered =
      "0.9.0 0.10.0-1 0.10.0-2 0.10.0-10 0.10.0-alpha 0.10.0-alpha.1 0.10.0-beta 0.10.0 1.0.0-rc.1 1.0.0".split(" ");
    for (const [n, version] of ordered.entries())
      for (const [m, other] of ordered.entries())
        expect([version, other, isGreater(version, other)]).toEqual([version, other, n > m]);
  });

  test("are told from what is none", () => {
    for (const text of [
      "1",
      "1.2",
      "1.2.3.4",
      "v1.2.3",
      "01.2.3",
      "1.2.3-",
      "1.2.3-01",
      "1.2.3+5",
      " 1.2.3",
      "1.2.3-a..b",
      "",
    ])
      expect([text, isVersion(text)]).toEqual([text, false]);
    for (const text of ["0.3.0", "10.20.30", "1.2.3-rc.1", "1.2.3-0a"])
      expect([text, isVersion(text)]).toEqual([text, true]);
  });
});
