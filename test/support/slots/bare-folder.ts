import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { SlotHandlers } from "../../../services/observer-service/src/keeper/slots/handlers/slot-handlers.ts";
import type { Log } from "../../../services/observer-service/src/log.ts";
import type { LoadedFolder } from "../../../services/observer-service/src/wire/messages.ts";
import { bareSlots } from "./bare-slots.ts";

/** What bare-slot.mjs reads: what is loaded, and which files end who loads them. */
interface BareFolder extends LoadedFolder {
  readonly files?: readonly { file: string; ends: true | string | undefined }[];
  readonly blames?: string | undefined;
}

/** What bare slots load from `dir` from now on: these types, each of a file of its own, and what else is said. */
export function saveFolder(dir: string, types: readonly string[], more: Partial<BareFolder> = {}): void {
  const code = types.map((type) => ({ type, file: `${type}.ts`, print: "1" }));
  const nothing = { types: [], unannounced: [], unknownFields: [], notOffered: [], tasks: [], broken: [], isolation: [] };
  const folder: BareFolder = { ...nothing, code, ...more };
  writeFileSync(join(dir, "folder.json"), JSON.stringify(folder));
}

/** Handlers in bare slots that have loaded these types. They end with the test. */
export async function openBareHandlers(
  types: readonly string[],
  settings: Omit<Parameters<typeof bareSlots>[0], "dir">,
  log: Log,
): Promise<SlotHandlers> {
  const dir = mkdtempSync(join(tmpdir(), "unacked-slots-"));
  saveFolder(dir, types);
  const handlers = new SlotHandlers(bareSlots({ ...settings, dir }), log);
  onTestFinished(async () => {
    await handlers.close(0);
    rmSync(dir, { recursive: true, force: true });
  });
  await handlers.open();
  return handlers;
}
