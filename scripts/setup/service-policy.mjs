import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { processIdentity } from "../processes/identity.mjs";

/** Debian asks this program before a package starts its server; its exit code 101 means no. */
const POLICY = "/usr/sbin/policy-rc.d";
const SIGNALS = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
/** By this line one that was killed is known later: who wrote the file, and which life of its pid that was. */
const OWNER = /^# unacked (\d+) (.+)$/m;

/**
 * Debian starts a server that it installs. We want its program alone: the broker of the whole machine is not ours to start.
 * A signal ends this process as ever, but not before the policy is gone.
 *
 * @param {() => Promise<void>} work
 * @param {string} [policy]
 */
export async function withoutStartingServices(work, policy = POLICY) {
  if (existsSync(policy)) return work(); // somebody has decided that already
  const owner = `# unacked ${process.pid} ${processIdentity(process.pid)}`;
  writeFileSync(policy, `#!/bin/sh\n${owner}\nexit 101\n`, { mode: 0o755 });
  const remove = () => rmSync(policy, { force: true });
  /** @param {NodeJS.Signals} signal */
  const endBy = (signal) => {
    remove();
    process.kill(process.pid, signal); // nobody listens any more
  };
  for (const signal of SIGNALS) process.once(signal, endBy);
  try {
    await work();
  } finally {
    for (const signal of SIGNALS) process.off(signal, endBy);
    remove();
  }
}

/**
 * What a set-up has left that was killed: no package would ever start its server again.
 *
 * @param {string} [policy]
 */
export function removeLeftPolicy(policy = POLICY) {
  if (!existsSync(policy)) return;
  const [, pid, identity] = OWNER.exec(readFileSync(policy, "utf8")) ?? [];
  if (pid !== undefined && processIdentity(Number(pid)) !== identity) rmSync(policy, { force: true });
}
