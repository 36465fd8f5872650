import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { runTool } from "./run-tool.mjs";

/**
 * A package of another release of Debian, its files laid into a folder of ours and not installed. With lists and a cache of
 * its own, so that the system's packages are not touched. A mirror that stands still is as good for this: hence
 * Check-Valid-Until.
 *
 * @param {{ name: string, suite: string, mirror: string, folder: string }} wish
 */
export function unpackForeignPackage({ name, suite, mirror, folder }) {
  return unpackInto(folder, async (work) => {
    const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
    writeFileSync(join(work, "sources.list"), `deb [signed-by=${keyring}] ${mirror} ${suite} main\n`);
    for (const place of ["lists", "cache/archives"]) mkdirSync(join(work, place, "partial"), { recursive: true });
    const settings = {
      "Dir::Etc::SourceList": join(work, "sources.list"),
      "Dir::Etc::SourceParts": "/dev/null",
      "Dir::State::Lists": join(work, "lists"),
      "Dir::State::Status": "/dev/null",
      "Dir::Cache": join(work, "cache"),
      "Acquire::Check-Valid-Until": "false",
      "Acquire::Languages": "none",
      "APT::Sandbox::User": "root",
    };
    const options = Object.entries(settings).flatMap(([key, value]) => ["-o", `${key}=${value}`]);
    await runTool("apt-get", ["-qq", ...options, "update"]);
    await runTool("apt-get", ["-qq", ...options, "download", name], { cwd: work });
  });
}

/**
 * A package of the system's own release, likewise laid into a folder of ours and not installed: for a server that Debian would
 * start. What it depends on has to be there.
 *
 * @param {{ name: string, folder: string }} wish
 */
export function unpackPackage({ name, folder }) {
  return unpackInto(folder, async (work) => {
    const download = () => runTool("apt-get", ["-qq", "-o", "APT::Sandbox::User=root", "download", name], { cwd: work });
    // The package lists of a fresh image are missing, those of an old one out of date.
    await download().catch(() => runTool("apt-get", ["-qq", "update"]).then(download));
  });
}

/** @param {string} folder @param {(work: string) => Promise<void>} download lays the archive into that folder */
async function unpackInto(folder, download) {
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
  const work = mkdtempSync(`${folder}-`); // half of it is never taken for the whole
  try {
    await download(work);
    const [archive = ""] = readdirSync(work).filter((file) => file.endsWith(".deb"));
    await runTool("dpkg-deb", ["-x", join(work, archive), join(work, "root")]);
    renameSync(join(work, "root"), folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
