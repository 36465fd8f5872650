import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CreateObserver, PutSchedule } from "@unacked/contracts";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import feed from "../../create/template/observers/feed.ts";
import { manifestOf } from "../../scripts/pack/manifest.mjs";
import { contentFlaws, PACKAGES } from "../../scripts/pack/packages.mjs";
import { ROOT } from "../support/processes/processes.ts";
import { firstEventsOf } from "../support/sdk/first-events.ts";

const dir = mkdtempSync(join(tmpdir(), "unacked-create-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const node = (file: string, args: string[]) =>
  spawnSync(process.execPath, [join(ROOT, file), ...args], { cwd: dir, encoding: "utf8", env: { PATH: process.env.PATH } });
const create = (...args: string[]) => node("create/bin/create-unacked.mjs", args);

describe("npm create unacked", () => {
  test("makes a project of that name, whose documents are what a manager takes", () => {
    const { status, stdout } = create("price-jobs");
    expect(status).toBe(0);
    expect(stdout).toContain("cd price-jobs");
    const project = join(dir, "price-jobs");
    const textOf = (file: string) => readFileSync(join(project, file), "utf8");
    expect(JSON.parse(textOf("package.json")).name).toBe("price-jobs");
    // Passwords of docker-compose.yml stand in a file of that name.
    expect(textOf(".gitignore").split("\n")).toContain(".env");
    expect(existsSync(join(project, ".dockerignore"))).toBe(true);
    const files = readdirSync(project, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const texts = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
    expect(texts.filter((text) => text.includes("my-feeds"))).toEqual([]);

    const { schedule, ...body } = parse(textOf("apply/schedules.yaml")) as Record<string, unknown>;
    expect(schedule).toBe("price-jobs-digest");
    expect(PutSchedule.parse(body).task?.type).toBe("feed-digest");
    expect(CreateObserver.parse(parse(textOf("apply/observers.yaml"))).type).toBe("feed");
  });

  test("gives it an observer that passes its tests, and emits on where a checkpoint waits for its time", async () => {
    const own = ["--import", "tsx", "--test", join(ROOT, "create/template/observers/feed.test.ts")];
    const { status, stdout } = spawnSync(process.execPath, own, { cwd: ROOT, encoding: "utf8" });
    expect(stdout).toMatch(/^# fail 0$/m);
    expect(status).toBe(0);

    const items = Array.from({ length: 20 }, (_, n) => ({ id: `${n}`, title: `item ${n}` }));
    const server = createServer((_, answer) => answer.end(JSON.stringify({ items })));
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect(await firstEventsOf(feed, { url: `http://127.0.0.1:${port}/` }, items.length)).toEqual(items);
  });

  test("its tests are found in folders below, too, and one that fails is told", () => {
    create("tested");
    const project = join(dir, "tested");
    symlinkSync(join(ROOT, "node_modules"), join(project, "node_modules"));
    mkdirSync(join(project, "observers/parts/deep"), { recursive: true });
    const below = join(project, "observers/parts/deep/part.test.ts");
    const { scripts } = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as { scripts: { test: string } };
    const testFile = (name: string, assertion: string) =>
      `import { test } from "node:test";\ntest("${name}", () => { ${assertion} });\n`;
    const run = (assertion: string) => {
      writeFileSync(below, testFile("of a part", assertion));
      return spawnSync("sh", ["-c", `${scripts.test} more.test.ts`], { cwd: project, encoding: "utf8" });
    };
    writeFileSync(join(project, "more.test.ts"), testFile("named behind --", ""));
    const well = run("");
    expect(well.stdout).toMatch(/of a part/);
    expect(well.stdout).toMatch(/named behind --/);
    expect(well.stdout).toMatch(/an item is emitted once/);
    expect(well.status).toBe(0);
    expect(run("throw new Error()").status).not.toBe(0);
  });

  test("refuses a folder with files, a name that is none, an option, and no folder or two, with exit code 2", () => {
    mkdirSync(join(dir, "taken/src"), { recursive: true });
    for (const [args, said] of [
      [["taken"], "has files in it already"],
      [["My Feeds"], "cannot be a project's name"],
      [[], "Which folder?"],
      [["one", "two"], "One folder, please: one, and not two too."],
      [["--nope"], "There is no option --nope."],
      [["one", "--nope"], "There is no option --nope."],
    ] as const) {
      const { status, stderr } = create(...args);
      expect(stderr).toContain(said);
      expect(status).toBe(2);
    }
  });
});

describe("what is published", () => {
  test("asks a registry for nothing private, and names ours exactly", () => {
    const names = PACKAGES.map(({ name }) => name);
    for (const published of PACKAGES) {
      const { version, dependencies = {}, peerDependencies = {} } = manifestOf(ROOT, published);
      const needed: [string, string][] = Object.entries({ ...dependencies, ...peerDependencies });
      const ours = needed.filter(([name]) => name.startsWith("@unacked/"));
      expect(ours.filter(([name, of]) => !names.includes(name) || of !== version)).toEqual([]);
    }
  });

  test("a library exports what its workspace does: the SDK also what hosts need", () => {
    const [sdk] = PACKAGES;
    if (sdk === undefined) throw new Error("nothing is published");
    expect(Object.keys(manifestOf(ROOT, sdk).exports)).toEqual([".", "./host", "./package.json"]);
  });

  test("is held against its list: a file that nobody expects, a test, one that is missing", () => {
    const [sdk] = PACKAGES;
    if (sdk === undefined) throw new Error("nothing is published");
    const files = ["LICENSE", "README.md", "THIRD_PARTY_LICENSES", "package.json", "dist/index.js", "dist/index.d.ts"];
    expect(contentFlaws(files, sdk)).toEqual([]);
    expect(contentFlaws([...files, "src/index.ts"], sdk).join("\n")).toContain("src/index.ts is not expected");
    expect(contentFlaws([...files, "dist/spy.test.js"], sdk)).toEqual(["dist/spy.test.js does not belong in it"]);
    expect(contentFlaws(files.slice(1), sdk)).toEqual(["LICENSE is missing"]);
  });
});

test("a program tells its settings when it is asked, and refuses other words", { timeout: 240_000 }, () => {
  const help = node("services/observer-service/bundle/main.js", ["--help"]);
  expect(help.status).toBe(0);
  expect(help.stdout).toContain("Usage: unacked-service");
  expect(help.stdout).toContain("AMQP_URL or AMQP_URL_FILE (required)");
  const wrong = node("services/observer-manager/bundle/main.js", ["serve"]);
  expect(wrong.stderr).toContain("unacked-manager takes no serve");
  expect(wrong.status).toBe(2);
});
