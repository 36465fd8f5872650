import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { environmentOf, instructionsOf, lastOf, readDockerfile } from "../support/deploy/dockerfile.ts";
import { ROOT } from "../support/processes/processes.ts";
import { environmentFlaws, PROGRAMS } from "../support/processes/program-settings.ts";

const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const programs = Object.keys(PROGRAMS);
/** Every path of the build context that an instruction copies. */
const copied = readDockerfile()
  .flatMap((stage) => stage.instructions)
  .filter(({ name, text }) => name === "COPY" && !text.startsWith("--from"))
  .flatMap(({ text }) => text.split(/\s+/).slice(0, -1));

describe("the Dockerfile", () => {
  it("copies only what is there and what .dockerignore lets in", () => {
    const letIn = read(".dockerignore")
      .split("\n")
      .filter((line) => line.startsWith("!"))
      .map((line) => line.slice(1));
    expect(copied.length).toBeGreaterThan(10);
    expect(copied.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(copied.filter((path) => !letIn.some((each) => path === each || path.startsWith(`${each}/`)))).toEqual([]);
  });

  it("has the manifest of every workspace, without which npm ci refuses the lock file", () => {
    const { packages } = JSON.parse(read("package-lock.json")) as { packages: Record<string, unknown> };
    const workspaces = Object.keys(packages).filter((path) => path !== "" && !path.includes("node_modules"));
    expect(workspaces.length).toBeGreaterThan(5);
    expect(workspaces.filter((path) => !copied.includes(`${path}/package.json`))).toEqual([]);
  });

  it("compiles each of the project's packages that the page is made of, before the page", () => {
    const build = lastOf("build", "RUN") ?? "";
    const [, compiled = ""] = /^npx tsc -b (.*?) && .*build --workspace services\/status-page/.exec(build) ?? [];
    const closure = packagesOf("services/status-page", "devDependencies");
    expect(closure).toContain("libs/client");
    expect(closure.filter((each) => !referencesOf(compiled.trim().split(/\s+/)).has(each))).toEqual([]);
  });

  it("takes its base by a tag of Node that the project runs on", () => {
    const outside = readDockerfile().filter(({ from }) => !readDockerfile().some(({ name }) => name === from));
    expect(new Set(outside.map(({ from }) => from))).toEqual(new Set(["node:24-bookworm-slim"]));
  });
});

describe.each(programs)("the image %s", (program) => {
  it("runs its program as the process that signals reach, and not as root", () => {
    const command = JSON.parse(lastOf(program, "CMD") ?? "[]") as string[];
    expect(command).toEqual(["node", `services/${program}/bundle/main.js`]);
    expect(existsSync(join(ROOT, dirname(dirname(command[1] ?? "")), "src/main.ts"))).toBe(true);
    expect(lastOf(program, "USER")).toBe("node");
    expect(instructionsOf(program).some(({ name }) => name === "ENTRYPOINT")).toBe(false);
  });

  it("holds each of the project's packages that the program needs, and no package for development", () => {
    const closure = packagesOf(`services/${program}`);
    expect(closure).toContain("libs/contracts");
    const inside = instructionsOf(program).flatMap(({ text }) => /--from=build \/app\/(libs\/\w+)/.exec(text)?.[1] ?? []);
    expect(inside.sort()).toEqual(closure);
    const packages = instructionsOf(program).flatMap(({ text }) => /--from=(\S+) \/app\/node_modules/.exec(text)?.[1] ?? []);
    expect(packages).toHaveLength(1);
    const install = lastOf(packages[0] ?? "", "RUN");
    expect(install).toContain("--omit=dev");
    expect(install).toContain(`--workspace services/${program}`);
  });

  it("sets only settings of the program, listens where a container must, and is asked for its health there", () => {
    const { NODE_ENV, ...env } = environmentOf(program);
    expect(NODE_ENV).toBe("production");
    const outside = {
      AMQP_URL: "amqp://broker",
      ...(program === "observer-manager" && { DATABASE_URL: "postgres://db/x" }),
    };
    const known = { ...outside, ...(program === "observer-manager" && { AUTH_TOKENS_FILE: "/run/tokens" }) };
    expect(environmentFlaws(program, { ...env, ...known })).toEqual([]);
    // The manager's image has to be told who may come in.
    if (program === "observer-manager")
      expect(environmentFlaws(program, { ...env, ...outside })).toEqual([expect.stringContaining("ALLOW_ANONYMOUS")]);
    expect(env.HOST).toBe("0.0.0.0");
    expect(lastOf(program, "EXPOSE")).toBe(env.PORT);
    const check = lastOf(program, "HEALTHCHECK") ?? "";
    const [node, flag, script] = JSON.parse(check.slice(check.indexOf("["))) as string[];
    expect([node, flag]).toEqual(["node", "-e"]);
    expect(script).toContain("port: process.env.PORT, path: '/healthz'");
  });

  it("says its version, licence and purpose", () => {
    const labels = instructionsOf(program)
      .filter(({ name }) => name === "LABEL")
      .map(({ text }) => text)
      .join(" ");
    const { version } = JSON.parse(read("package.json")) as { version: string };
    for (const label of [`version="${version}"`, 'licenses="Apache-2.0"', `title="Unacked ${program}"`, 'description="']) {
      expect(labels).toContain(`org.opencontainers.image.${label}`);
    }
  });
});

/** The folders of the project's own packages that one depends on, direct or not. */
function packagesOf(folder: string, kind: "dependencies" | "devDependencies" = "dependencies"): string[] {
  const found = new Set<string>();
  const visit = (each: string) => {
    const manifest = JSON.parse(read(`${each}/package.json`)) as Record<string, Record<string, string>>;
    const own = Object.keys(manifest[each === folder ? kind : "dependencies"] ?? {}).filter((name) =>
      name.startsWith("@unacked/"),
    );
    for (const library of own.map((name) => name.replace("@unacked/", "libs/")).filter((other) => !found.has(other))) {
      found.add(library);
      visit(library);
    }
  };
  visit(folder);
  return [...found].sort();
}

/** What `tsc -b` compiles when it is given some folders. */
function referencesOf(folders: string[], found = new Set<string>()): Set<string> {
  for (const folder of folders.filter((each) => !found.has(each))) {
    found.add(folder);
    const { references = [] } = JSON.parse(read(`${folder}/tsconfig.json`)) as { references?: { path: string }[] };
    const others = references.map(({ path }) => join(folder, path));
    referencesOf(others, found);
  }
  return found;
}
