import { spawnSync } from "node:child_process";

/** `promtool` and `prometheus` come with Debian's package prometheus. They are not needed: what they would say is then not asked. */
export const promtool = commandOrNothing("promtool");
export const prometheus = commandOrNothing("prometheus");

function commandOrNothing(command: string): string | undefined {
  const isThere = spawnSync(command, ["--version"]).error === undefined;
  if (!isThere) console.log(`${command} is not on this machine: what it would say of the rules is not asked`);
  return isThere ? command : undefined;
}
