import { execFile } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { takeLock } from "../../scripts/processes/lock.mjs";
import { launchOf } from "../../scripts/start/launch.mjs";
import { parseStartOptions } from "../../scripts/start/options.mjs";
import { eventually } from "../support/eventually.ts";
import { ROOT } from "../support/processes/processes.ts";
import { inTurn, isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";

/** A clone in which nothing is installed and nothing is built. */
function freshClone(): string {
  const dir = join(temporaryFolder("clone"), "unacked");
  mkdirSync(dir);
  for (const each of ["package.json", "scripts"]) cpSync(join(ROOT, each), join(dir, each), { recursive: true });
  return dir;
}

const start = (cwd: string, ...args: string[]) => run("npm", ["start", "--silent", "--", ...args], cwd);

const run = (program: string, args: string[], cwd: string) =>
  new Promise<{ code: number; output: string }>((resolve) => {
    const env = { ...process.env, INIT_CWD: undefined };
    execFile(program, args, { cwd, env }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, output: stdout + stderr }),
    );
  });

test.each(
  inTurn([
    [["--help"], 0, "Usage: npm start"],
    [["--observer", "x"], 2, "Unknown option '--observer'"],
    [["--port", "0", "--observers", "nowhere"], 1, "There is no folder"],
    [["--port", "0", "--recording", "nowhere"], 1, "There is no recording"],
  ]),
)("npm start -- %j answers before anything is installed or built", async (args, code, said) => {
  const clone = freshClone();
  const answer = await start(clone, ...args);
  expect(answer).toEqual({ code, output: expect.stringContaining(said) });
  expect(answer.output).not.toContain("Installing");
  expect(readdirSync(clone).toSorted()).toEqual(["package.json", "scripts"]);
});

test.runIf(isTurnOf(2))("a mistake in a file of observers/ is told when all else is built, and stops nothing", async () => {
  const clone = freshClone();
  mkdirSync(join(clone, "observers"));
  symlinkSync(join(ROOT, "node_modules"), join(clone, "node_modules"));
  const compilerOptions = { strict: true, composite: true, outDir: "dist", types: [] };
  writeFileSync(join(clone, "observers/tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  writeFileSync(join(clone, "observers/mine.ts"), 'export const count: number = "one";\n');
  const build = `import { compileObservers } from "./scripts/setup/build.mjs"; await compileObservers(${JSON.stringify(clone)});`;
  const { code, output } = await run(process.execPath, ["--input-type=module", "-e", build], clone);
  expect(output).toContain("observers/mine.ts");
  expect(output).toContain("What can be loaded of observers/ runs all the same.");
  expect(code).toBe(0);
});

test("a second start in one folder hears that it runs there already, and not that another port would help", async () => {
  const clone = freshClone();
  takeLock(join(clone, ".unacked/run/start.lock"));
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const { code, output } = await start(clone, "--port", String(port));
  server.close();
  expect(output).toContain(`runs in this folder already (process ${process.pid}). Stop it with: kill ${process.pid}`);
  expect(output).not.toContain("in use");
  expect(code).toBe(1);
});

const ADDRESSES = ".unacked/run/servers.env";

/** A manager that finds no database: it listens nowhere, and says why. */
const WAITING_MANAGER = `
console.log(JSON.stringify({ level: "warn", msg: "PostgreSQL cannot be reached; trying again", remedy: "Start it." }));
setInterval(() => {}, 1_000);
`;

test("a start that waits for a program tells why, and ends at once when it is to stop", async () => {
  const root = freshClone();
  mkdirSync(join(root, "services/observer-manager/bundle"), { recursive: true });
  writeFileSync(join(root, "services/observer-manager/bundle/main.js"), WAITING_MANAGER);
  for (const name of ["DATABASE_URL", "AMQP_URL"]) vi.stubEnv(name, "nowhere");
  const said = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const output = () => said.mock.calls.map(([text]) => text).join("");
  const stopping = new AbortController();
  const options = parseStartOptions(["--port", "0", "--no-demo"]);
  if (options === "help") expect.fail();
  const launch = launchOf({ root, dataDir: join(root, ".unacked"), options, signal: stopping.signal });
  try {
    const run = launch.run();
    await eventually(() => expect(output()).toContain("still at it after 1"), { timeoutMs: 20_000 });
    expect(existsSync(join(root, ADDRESSES))).toBe(false); // of servers that are somebody's own it says nothing
    stopping.abort();
    await run;
    await launch.stop();
    expect(output()).toContain("Stopping observer-manager ...");
    expect(output()).toMatch(/still at it after 1\d\.\d s\n {2}PostgreSQL cannot be reached; trying again: Start it.\n/);
  } finally {
    said.mockRestore();
    vi.unstubAllEnvs();
  }
});

/** Ready, with its environment in a file. */
const TELLING_PROGRAM = `
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
const server = createServer((_, response) => response.end()).listen(0, "127.0.0.1", () => {
  writeFileSync(new URL("env.json", import.meta.url), JSON.stringify(process.env));
  console.log(JSON.stringify({ event: "listening", url: "http://127.0.0.1:" + server.address().port }));
});
`;

test("a service is started without the database's address, which is its manager's", async () => {
  const root = freshClone();
  const dirs = ["observer-manager", "observer-service"].map((name) => join(root, "services", name, "bundle"));
  for (const dir of dirs) {
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, "main.js"), TELLING_PROGRAM);
  }
  for (const name of ["DATABASE_URL", "AMQP_URL"]) vi.stubEnv(name, "nowhere");
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const stopping = new AbortController();
  const options = parseStartOptions(["--port", "0", "--no-demo", "--services", "1"]);
  if (options === "help") expect.fail();
  const launch = launchOf({ root, dataDir: join(root, ".unacked"), options, signal: stopping.signal });
  try {
    await launch.run();
    const [manager, service] = dirs.map((dir) => JSON.parse(readFileSync(join(dir, "env.json"), "utf8")));
    expect([manager.DATABASE_URL, manager.AMQP_URL, service.AMQP_URL]).toEqual(["nowhere", "nowhere", "nowhere"]);
    expect(service).not.toHaveProperty("DATABASE_URL");
  } finally {
    stopping.abort();
    await launch.stop();
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  }
});

const ASK_BOTH = `
import { connect } from "amqplib";
import pg from "pg";
const [broker, database] = [await connect(process.env.AMQP_URL), new pg.Client(process.env.DATABASE_URL)];
await database.connect();
const { rows } = await database.query("SELECT current_database() AS name");
console.log(broker.connection.serverProperties.product, rows[0].name);
await Promise.all([broker.close(), database.end()]);
`;

test("a start tells its user's programs where its own servers are, in a file that ends with them", async () => {
  const root = freshClone();
  mkdirSync(join(root, "services/observer-manager/bundle"), { recursive: true });
  writeFileSync(join(root, "services/observer-manager/bundle/main.js"), WAITING_MANAGER);
  vi.stubEnv("DATABASE_URL", undefined);
  vi.stubEnv("AMQP_URL", ""); // counts as not given, as in the programs
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const stopping = new AbortController();
  const options = parseStartOptions(["--port", "0", "--no-demo"]);
  if (options === "help") expect.fail();
  const launch = launchOf({ root, dataDir: join(root, ".unacked"), options, signal: stopping.signal });
  const file = join(root, ADDRESSES);
  try {
    const started = launch.run();
    await eventually(() => expect(existsSync(file)).toBe(true), { timeoutMs: 60_000 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    vi.stubEnv("AMQP_URL", undefined); // or it would win over the file
    const asked = await run(process.execPath, [`--env-file=${file}`, "--input-type=module", "-e", ASK_BOTH], ROOT);
    expect(asked).toEqual({ code: 0, output: "RabbitMQ unacked\n" });
    stopping.abort();
    await started;
  } finally {
    await launch.stop();
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  }
  expect(existsSync(file)).toBe(false);
}, 240_000);
