import { readFileSync } from "node:fs";

/**
 * Why this slot is of no use to its service; undefined: they are of one version. A service starts its slots from the folder that it was
 * itself started in. Where another version was put there meanwhile, the two may mean different things by what they tell each other.
 *
 * @param started that of the service
 */
export function otherVersion(started: string): string | undefined {
  const manifest = new URL("../../package.json", import.meta.url); // found from src/slot/, dist/slot/ and bundle/slot/ alike
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
  if (version === started) return undefined;
  return `the folder of this program has version ${version} by now, and its service was started with ${started}: restart the service`;
}
