import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { EXIT_CODES } from "../../../cli/src/failure.ts";
import { run } from "../../../cli/src/program.ts";
import { QUIET_IO } from "./quiet-io.ts";
import { observerView } from "./views.ts";

let server: Server;
let folder: string;
let sent: string;
/** As a value that does not stay what it is where YAML breaks lines at 80 columns. */
const SCRIPT = `  ${"word ".repeat(20)}\n  end\n`;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "edits-"));
  vi.stubEnv("TMPDIR", folder);
  server = createServer((request, response) => {
    const view = observerView({ name: "a", params: { everyMs: 1_000, script: SCRIPT } });
    sent = "";
    request.on("data", (piece) => void (sent += String(piece)));
    const body = request.method === "GET" ? view : { ...view, outcome: "changed", changed: [] };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => {
  server.close();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

async function edit(editor: string, ...options: string[]): Promise<{ code: number; err: string }> {
  let err = "";
  const { port } = server.address() as AddressInfo;
  const code = await run(["edit", "a", ...options, "--url", `http://127.0.0.1:${port}`], {
    ...QUIET_IO,
    err: (text) => void (err += text),
    env: { ...process.env, XDG_CONFIG_HOME: "/nowhere", VISUAL: editor },
  });
  return { code, err };
}

it.each([
  ["sed -i s/1000/2000/", EXIT_CODES.ok],
  ["true", EXIT_CODES.ok],
  ["false", EXIT_CODES.failed],
])("edit leaves no text behind after %s", async (editor, code) => {
  expect(await edit(editor)).toMatchObject({ code });
  expect(readdirSync(folder)).toEqual([]);
});

it("edit sends what was not edited as it was", async () => {
  expect(await edit("sed -i s/1000/2000/")).toMatchObject({ code: EXIT_CODES.ok });
  expect(JSON.parse(sent)).toMatchObject({ params: { everyMs: 2_000, script: SCRIPT } });
});

it.each([
  ["sed -i s/1000/.inf/", [], EXIT_CODES.usage],
  ["sed -i s/1000/2000/", ["--dry-run"], EXIT_CODES.differs],
  ["false | sed -i s/1000/2000/ $1; false", [], EXIT_CODES.failed],
])("edit says where the text is that was written and not sent: %s %j", async (editor, options, code) => {
  const told = await edit(editor, ...options);
  const [kept] = readdirSync(folder);
  expect(told).toMatchObject({
    code,
    err: expect.stringContaining(`Your text is in ${join(folder, String(kept), "a.yaml")}`),
  });
});

/** As `tsc -b` makes it. */
const MAIN = resolve(import.meta.dirname, "../../../cli/dist/main.js");

it.each(["INT", "QUIT"])("SIG%s of the terminal, which goes to all in its foreground, is the editor's", async (signal) => {
  const editor = join(folder, "editor.sh");
  writeFileSync(editor, `trap : ${signal}; kill -${signal} 0; sed -i s/1000/2000/ "$1"`);
  const { port } = server.address() as AddressInfo;
  const editing = spawn(process.execPath, [MAIN, "edit", "a", "--url", `http://127.0.0.1:${port}`], {
    env: { ...process.env, XDG_CONFIG_HOME: "/nowhere", VISUAL: `sh ${editor}` },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true, // a process group of its own
  });
  const [[code, killedBy], out] = await Promise.all([once(editing, "exit"), editing.stdout.setEncoding("utf8").toArray()]);
  expect([code, killedBy, out.join("")]).toEqual([EXIT_CODES.ok, null, expect.stringContaining("observer a changed")]);
  expect(readdirSync(folder)).toEqual(["editor.sh"]);
});
