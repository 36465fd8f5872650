import { areOthersTold, currentOwner } from "../isolation.ts";

/** A handler must not do this to the process that it shares with others: it is refused, and its attempt fails. */
export class ProcessGuardError extends Error {
  override readonly name = "ProcessGuardError";
  readonly code = "process-guarded";

  constructor(what: string) {
    super(
      `${what} would end or change the process of every observer beside this one: it is refused, and this attempt fails`,
    );
  }
}

const realExit = process.exit.bind(process);
let isExiting = false;

/** Lets the slot itself exit while author's code is under way: `process.exit` calls `process.reallyExit`, which is guarded, too. */
export function exitSlot(code: number): never {
  isExiting = true;
  return realExit(code);
}

/**
 * Refuses, to handlers and to the files that they stand in, what ends or changes the whole process: `exit`, `reallyExit`,
 * `abort`, `chdir`, `kill` of itself, of its service, or of their groups. Node's own work, which belongs to no handler, passes. A listener for
 * what nobody caught, which many programs have to end themselves, is not thrown at: it has no effect.
 *
 * @param isLoading whether observer files are being loaded: until then nobody owns their code
 */
export function guardProcess(isLoading: () => boolean): void {
  const guarded = process as unknown as Record<string, (...args: unknown[]) => unknown>;
  const guard = (name: string, concerns: (...args: unknown[]) => boolean = () => true): void => {
    const original = guarded[name];
    if (original === undefined) return;
    guarded[name] = (...args: unknown[]) => {
      const owner = currentOwner();
      if (isExiting || (owner === undefined && !isLoading()) || !concerns(...args)) return original.apply(process, args);
      // Its attempt has failed. A throw at Node here would end the process of all, with exit code 7.
      if (areOthersTold()) return undefined;
      const error = new ProcessGuardError(`process.${name}(${args.map(String).join(", ")})`);
      owner?.uncaught(error); // it fails even if the handler catches what is thrown here
      throw error;
    };
  };
  for (const name of ["exit", "reallyExit", "abort", "chdir"]) guard(name);
  // Nobody may take all uncaught errors, which would then belong to nobody. It has no effect rather than throw: a domain of
  // Node calls it within its hooks, where a throw ends the process.
  guarded["setUncaughtExceptionCaptureCallback"] = () => undefined;
  // The parent is the service, which holds the lease of all; its process group counts, too, if it leads one.
  const ours = new Set([process.pid, process.ppid].flatMap((pid) => [pid, -pid]).concat(0, -1));
  guard("kill", (pid, signal) => ours.has(Number(pid)) && signal !== 0);
}
