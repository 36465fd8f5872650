import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PlainError } from "../progress.mjs";
import { debianMirror, whyNoOtherRoot } from "../servers/debian-root.mjs";
import { findOnPath } from "../servers/rabbitmq-program.mjs";
import { runTool } from "../setup/run-tool.mjs";
import { imageOfFolder } from "./buildah.mjs";

/** Where `node:24-bookworm-slim` cannot be had: the same Debian, this machine's Node.js, the same user, the same places. */

const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

/** @param {string} tag */
export async function makeStandIn(tag) {
  const reason = whyNoOtherRoot();
  if (reason !== null) throw new PlainError(`No stand-in for the base image can be made: ${reason}`);
  const folder = mkdtempSync(join(tmpdir(), "unacked-base-"));
  try {
    const advice = "Is the mirror that /etc/apt names reachable?";
    await runTool("debootstrap", ["--variant=minbase", "bookworm", folder, debianMirror() ?? ""], { advice });
    await runTool("chroot", [folder, "useradd", "--uid", "1000", "--create-home", "--shell", "/bin/sh", "node"]);
    addNode(folder);
    const trusted = existsSync(CERTIFICATES);
    // It may be that this machine's network answers by certificates of its own.
    if (trusted) cpSync(CERTIFICATES, join(folder, CERTIFICATES), { recursive: true });
    const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    await imageOfFolder(tag, folder, { PATH: path, ...(trusted && { NODE_EXTRA_CA_CERTS: CERTIFICATES }) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} folder */
function addNode(folder) {
  const npm = dirname(dirname(realpathSync(findOnPath("npm") ?? "")));
  const bin = join(folder, "usr/local/bin");
  const modules = join(folder, "usr/local/lib/node_modules");
  mkdirSync(modules, { recursive: true });
  cpSync(realpathSync(process.execPath), join(bin, "node"));
  cpSync(npm, join(modules, "npm"), { recursive: true, dereference: true });
  for (const program of ["npm", "npx"]) symlinkSync(`../lib/node_modules/npm/bin/${program}-cli.js`, join(bin, program));
}
