import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { processIdentity } from "../processes/identity.mjs";

/** Debian asks this program before a package starts its server; its exit code 101 means no. */
const POLICY = "/usr/sbin/policy-rc.d";
const SIGNALS = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
/** By this line one that was killed is known later: who wrote the file, and which life of its pid that was. */
const OWNER = /^# unacked (\d+) (.+)$/m;

/**
 * Debian starts a server that it installs. We want its program alone: the broker of the whole machine is not ours to start.
 * A signal ends this process once that work is over (apt-get goes on without us, and would start the server), a second one at once;
 * the policy is gone before, either way.
 *
 * @param {() => Promise<void>} work
 * @param {string} [policy]
 */
export async function withoutStartingServices(work, policy = POLICY) {
  if (existsSync(policy)) return work(); // somebody has decided that already
  const owner = `# unacked ${process.pid} ${processIdentity(process.pid)}`;
  writeFileSync(policy, `#!/bin/sh\n${owner}\nexit 101\n`, { mode: 0o755 });
  /** @type {NodeJS.Signals | undefined} */
  let wasTold;
  const end = () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    rmSync(policy, { force: true });
    if (wasTold !== undefined) process.kill(process.pid, wasTold); // nobody listens any more
  };
  /** @param {NodeJS.Signals} signal */
  const onSignal = (signal) => {
    if (wasTold !== undefined) return end();
    wasTold = signal;
    process.stderr.write("Ends when the package is installed; once more, at once.\n");
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    await work();
  } finally {
    end();
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
