import { spawnSync } from "node:child_process";
import { afterEach, expect, it, vi } from "vitest";
import { guardProcess, ProcessGuardError } from "../../../services/observer-service/src/slot/process-guard.ts";
import { ROOT } from "../../support/processes/processes.ts";

const real = { ...process };
afterEach(() => {
  for (const name of ["exit", "reallyExit", "abort", "chdir", "kill", "setUncaughtExceptionCaptureCallback"])
    Object.assign(process, { [name]: real[name as never] });
});

it("a handler ends neither its slot nor the service that its slot belongs to, nor their groups; others it may", () => {
  const killed = vi.fn();
  Object.assign(process, { kill: killed });
  guardProcess(() => true);
  const { pid, ppid } = process;
  for (const own of [pid, -pid, 0, -1, ppid, -ppid, String(ppid)])
    expect(() => process.kill(own as number, "SIGTERM")).toThrow(ProcessGuardError);
  expect(killed).not.toHaveBeenCalled();
  process.kill(ppid, 0); // asks whether it is there
  process.kill(2 ** 22 + 1, "SIGTERM");
  expect(killed).toHaveBeenCalledTimes(2);
});

/** Runs in a process of its own that is guarded as a slot is: what it prints, line by line, and how it ends. */
function guarded(script: string) {
  const program = `
    const { installIsolation, runAs } = await import("./services/observer-service/src/isolation.ts");
    const { exitSlot, guardProcess } = await import("./services/observer-service/src/slot/process-guard.ts");
    guardProcess(() => false);
    installIsolation(() => console.log("nobody's"));
    const ownerOf = (runId) => ({ runId, uncaught: ({ message }) => console.log(runId, message) });
    const throwIn = (runId) => {
      runAs(ownerOf(runId), () => setTimeout(() => { throw new Error("in a timer"); }, 1));
      runAs(ownerOf(runId), () => setTimeout(() => void Promise.reject(new Error("in a promise")), 10));
    };
    ${script}
    setTimeout(() => exitSlot(3), 150);`;
  const { status, stdout } = spawnSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], {
    encoding: "utf8",
    cwd: ROOT,
    timeout: 60_000,
  });
  const lines = stdout.split("\n").filter((line) => line !== "");
  return { status, lines: lines.map((line) => line.slice(0, 32)) };
}

it("a file that listens for what nobody caught, to end its program, ends nobody: the handler that threw fails, and no other", () => {
  const { status, lines } = guarded(`
    for (const event of ["uncaughtException", "unhandledRejection"]) process.on(event, () => process.exit(1));
    throwIn("run-1");
    runAs(ownerOf("run-1"), () => setTimeout(() => { try { process.exit(0); } catch { console.log("refused"); } }, 100));`);
  expect(lines).toEqual(["run-1 in a timer", "run-1 in a promise", "run-1 process.exit(0) would end ", "refused"]);
  expect(status).toBe(3);
});

const thrown = { status: 3, lines: ["run-2 in a timer", "run-2 in a promise"] };

it("nor does one that throws it on, or takes all listeners away", () => {
  const throwsOn =
    'for (const event of ["uncaughtExceptionMonitor", "uncaughtException", "unhandledRejection"]) process.on(event, (error) => { throw error; });';
  expect(guarded(`${throwsOn} throwIn("run-2");`)).toEqual(thrown);
  expect(guarded('process.removeAllListeners(); throwIn("run-2");')).toEqual(thrown);
});

it("nor does one that replaces process.emit and ends the process where nobody listens, asking no other", () => {
  // As shimEmitUncaughtException of source-map-support 0.5.21 does (source-map-support.js, BSD-3-Clause).
  const shim = `
    const { emit, exit } = process;
    process.emit = function (type, error) {
      const isUnheard = type === "uncaughtException" && this.listeners(type).length === 0;
      return isUnheard && error?.stack ? exit(1) : emit.apply(this, arguments);
    };`;
  expect(guarded(`${shim} throwIn("run-2");`)).toEqual(thrown);
  const keeps = "process.emit = () => undefined;";
  expect(guarded(`${keeps} throwIn("run-2");`)).toEqual(thrown);
});

it("to take what others have not caught for itself has no effect: who threw fails of it", () => {
  const takes = "process.setUncaughtExceptionCaptureCallback(() => undefined)";
  expect(guarded(`runAs(ownerOf("run-1"), () => ${takes}); throwIn("run-2");`)).toEqual(thrown);
});

it("nor has a domain, which does so; what it is told of a rejection is its author's", () => {
  const inDomain = `
    const { create } = await import("node:domain");
    create().on("error", () => console.log("told")).run(() => throwIn("run-2"));`;
  expect(guarded(inDomain)).toEqual({ status: 3, lines: ["run-2 in a timer", "told"] });
});

it("what others put in the place of timers leaves the process guarded after an error that nobody caught", () => {
  const { status, lines } = guarded(`
    globalThis.setImmediate = () => console.log("faked");
    throwIn("run-1");
    runAs(ownerOf("run-2"), () => setTimeout(() => { try { process.exit(0); } catch { console.log("refused"); } }, 100));`);
  expect(lines).toEqual(["run-1 in a timer", "run-1 in a promise", "run-2 process.exit(0) would end ", "refused"]);
  expect(status).toBe(3);
});
