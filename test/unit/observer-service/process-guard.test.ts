import { afterEach, expect, it, vi } from "vitest";
import { guardProcess, ProcessGuardError } from "../../../services/observer-service/src/slot/process-guard.ts";

const real = { ...process };
afterEach(() => {
  for (const name of ["exit", "reallyExit", "abort", "chdir", "kill"])
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
