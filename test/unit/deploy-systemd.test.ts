import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ServiceSettings } from "../../services/observer-service/src/settings/settings.ts";
import { ROOT } from "../support/processes/processes.ts";
import { environmentFlaws } from "../support/processes/program-settings.ts";

const FOLDER = "deploy/systemd";
const UNITS = [
  { file: "unacked-manager.service", program: "observer-manager", instance: "unacked-manager.service" },
  { file: "unacked-service@.service", program: "observer-service", instance: "unacked-service@alpha.service" },
];
/** What the secrets hold, as far as the settings look at it. */
const SECRETS = { AMQP_URL: "amqp://u:p@h/", DATABASE_URL: "postgres://u:p@h/d" };

const isThere = (command: string): boolean => spawnSync(command, ["--version"]).error === undefined;
const hasSystemd = isThere("systemd-analyze") && existsSync("/usr/bin/node");
if (!hasSystemd)
  console.log("systemd-analyze, or /usr/bin/node, is not on this machine: what it would say of the units is not asked");

/** Every value of a key, in order. */
const valuesIn = (text: string, key: string): string[] =>
  [...text.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, value = ""]) => value);

describe.each(UNITS)("the unit $file", ({ file, program, instance }) => {
  const text = readFileSync(join(ROOT, FOLDER, file), "utf8");
  const value = (key: string): string => valuesIn(text, key)[0] ?? expect.fail(`${file} has no ${key}`);

  it("runs node itself with the program that the build makes, and starts it again whatever happens", () => {
    expect(value("ExecStart")).toBe(`/usr/bin/node services/${program}/bundle/main.js`);
    expect(existsSync(join(ROOT, `services/${program}/src/main.ts`))).toBe(true);
    expect([value("Restart"), value("StartLimitIntervalSec"), value("KillMode")]).toEqual(["always", "0", "mixed"]);
    expect([value("DynamicUser"), value("NoNewPrivileges"), value("ProtectSystem")]).toEqual(["yes", "yes", "strict"]);
  });

  it("gives it settings that it has, and reads its secrets from credentials that it is given", () => {
    const pairs = value("Environment")
      .split(" ")
      .map((pair) => pair.split("=", 2) as [string, string]);
    const given = Object.fromEntries(pairs.map(([name, each]) => [name, each.replace("%i", "alpha")]));
    expect(environmentFlaws(program, given, SECRETS)).toEqual([]);
    const files = pairs.filter(([name]) => name.endsWith("_FILE")).map(([, path]) => path);
    const credentials = valuesIn(text, "LoadCredential").map((each) => `%d/${each.split(":")[0]}`);
    expect(files.sort()).toEqual(credentials.sort());
  });

  it("says from which version of systemd on it is understood", () => {
    // `%d` came with 251 (systemd's NEWS), LoadCredential with 247.
    expect(value("Environment")).toContain("%d/");
    expect(readFileSync(join(ROOT, "docs/deploy.md"), "utf8")).toContain("systemd 251 or later");
  });

  it("says of its secrets that they stay as they were when it was started", () => {
    // "They are immutable during the service runtime" (https://systemd.io/CREDENTIALS/): a token that is taken back is still good.
    for (const page of ["docs/deploy.md", "docs/security.md"])
      expect(readFileSync(join(ROOT, page), "utf8"), page).toMatch(
        /systemctl restart unacked-manager|systemd's units.*restarted/,
      );
  });

  it("leaves it the time that it needs to end", () => {
    const { STOP_TIMEOUT_MS } = ServiceSettings.parse({ AMQP_URL: SECRETS.AMQP_URL });
    const least = program === "observer-service" ? STOP_TIMEOUT_MS + 10_000 : 10_000;
    expect(Number(value("TimeoutStopSec")) * 1_000).toBeGreaterThanOrEqual(least);
  });

  it("has its place in the guide", () => {
    const guide = readFileSync(join(ROOT, "docs/deploy.md"), "utf8");
    expect(guide).toContain(`${FOLDER}/${file}`);
    for (const each of valuesIn(text, "LoadCredential")) expect(guide).toContain(each.split(":")[1]?.split("/").at(-1));
  });

  it.skipIf(!hasSystemd)("is taken by systemd", () => {
    const dir = mkdtempSync(join(tmpdir(), "unacked-units-"));
    try {
      const copy = join(dir, instance);
      copyFileSync(join(ROOT, FOLDER, file), copy);
      const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", "--recursive-errors=no", copy], {
        encoding: "utf8",
      });
      expect(`${status} ${stderr.trim()}`).toBe("0 ");
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

it("the service's unit lets the kernel end one slot, and gives each instance a folder", () => {
  const text = readFileSync(join(ROOT, FOLDER, "unacked-service@.service"), "utf8");
  // By default systemd ends the whole service with the slot.
  expect(valuesIn(text, "OOMPolicy")).toEqual(["continue"]);
  // Each has a user of its own (DynamicUser), and systemd gives the folder to the one that starts last.
  expect(valuesIn(text, "StateDirectory")).toEqual(["unacked-%i"]);
});

it("the guide gives each service of a machine a port of its own, and what its user on the broker may", () => {
  const guide = readFileSync(join(ROOT, "docs/deploy.md"), "utf8");
  const [, names = ""] = /systemctl enable --now (unacked-service@.*)$/m.exec(guide) ?? [];
  const [, ...others] = names.split(" ").map((unit) => unit.split("@")[1]);
  expect(others.length).toBeGreaterThan(0);
  for (const other of others) expect(guide).toMatch(new RegExp(`echo PORT=\\d+ > /etc/unacked/service-${other}\\.env`));
  expect(guide).toContain("echo DECLARE_TOPOLOGY=false > /etc/unacked/service.env");
});

describe("a new version", () => {
  const read = (file: string) => readFileSync(join(ROOT, file), "utf8");

  it("has a folder of its own in the guide, to which the units come by a link: what runs has its files as they were", () => {
    for (const { file } of UNITS) expect(valuesIn(read(`${FOLDER}/${file}`), "WorkingDirectory")).toEqual(["/opt/unacked"]);
    const commands = [...read("docs/deploy.md").matchAll(/^ {4}(\S.*\S)$/gm)].map(([, command = ""]) => command);
    const [named = expect.fail("no folder")] = commands.filter((command) => command.startsWith("folder="));
    const { stdout } = spawnSync("sh", ["-c", `${named}; echo "$folder"`], { cwd: ROOT, encoding: "utf8" });
    const { version } = JSON.parse(read("package.json")) as { version: string };
    expect(stdout).toBe(`/opt/unacked-${version}\n`);
    expect(commands).toContain('cp -r package.json node_modules libs services observers deploy "$folder"');
    expect(commands).toContain('ln -sfn "$folder" /opt/unacked');
  });

  const wayOf = (page: string) => page.split("### With systemd")[1]?.split("\n### ")[0] ?? expect.fail("no section");

  it("is begun by moving the link, by its own units, and by restarting managers before services", () => {
    const acts = [...wayOf(read("docs/upgrade.md")).matchAll(/^ {4}(\S.*\S)$/gm)].map(([, act]) => act);
    expect(acts.slice(0, 5)).toEqual([
      "ln -sfn /opt/unacked-VERSION /opt/unacked",
      "cp /opt/unacked/deploy/systemd/unacked-*.service /etc/systemd/system/",
      "systemctl daemon-reload",
      "systemctl restart unacked-manager",
      "systemctl restart unacked-service@alpha",
    ]);
  });

  it("is taken back by the same steps, but services before managers, as the page has it for every way", () => {
    const page = read("docs/upgrade.md");
    expect(page.split("## Taking an update back")[1]).toMatch(/^\s*Services first, then managers/);
    expect(wayOf(page).replaceAll("\n", " ")).toMatch(
      /steps with its name lead back, the services restarted before the manager/,
    );
  });

  it("leaves the way back to 0.1.0, whose units start other files: its folder gets them, as later ones have them", () => {
    const way = wayOf(read("docs/upgrade.md"));
    expect(way).toContain("cp /etc/systemd/system/unacked-*.service /opt/unacked-0.1.0/deploy/systemd/");
    expect(read("docs/upgrade.md").split("## Taking an update back")[1]).toMatch(
      /units go back with it \(\[how\]\(#with-systemd\)\)/,
    );
  });
});
