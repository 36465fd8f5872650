import type { BrokenFile } from "@unacked/contracts";
import type { Reload } from "./keeper/runs/handlers.ts";
import type { Log } from "./log.ts";
import { brokenFileText } from "./slot/load-failure.ts";
import type { Catalogue } from "./wire/messages.ts";

/** Logs what is in the folder and may differ from what its author expects. */
export function logCatalogue({ unannounced, unknownFields, notOffered, broken }: Catalogue, log: Log): void {
  for (const { type, reason } of unannounced)
    log.warn({ event: "no-json-schema", type, reason }, "a schema of a type cannot be announced");
  for (const { type, fields } of unknownFields)
    log.warn(
      { event: "unknown-fields", type, fields },
      `the type ${type} is defined with unknown fields: ${fields.join(", ")}`,
    );
  for (const { file, problem } of notOffered) log.info({ event: "type-not-offered", file }, problem);
  for (const file of broken) logBroken("file-not-loaded", "only its types are missing here", file, log);
}

/** Logs the outcome of a reload. */
export function logReload(reload: Reload, catalogue: Catalogue, log: Log): void {
  switch (reload.kind) {
    case "refused": {
      const { broken, why } = reload;
      for (const file of broken) logBroken("reload-refused", "the old code stays in use", file, log);
      if (broken.length === 0) log.error({ event: "reload-refused" }, `the old code stays in use: ${why}`);
      return;
    }
    case "unchanged":
      log.info({ event: "types-unchanged" }, "the folder was loaded again: its code is what it was");
      return logCatalogue(catalogue, log);
    case "loaded": {
      const { kind: _kind, ...types } = reload;
      const words = Object.entries(types).flatMap(([how, names]) =>
        names.length === 0 ? [] : `${how}: ${names.join(", ")}`,
      );
      log.info({ event: "types-reloaded", ...types }, `the folder was loaded again (${words.join("; ")})`);
      return logCatalogue(catalogue, log);
    }
    default:
      return reload satisfies never;
  }
}

function logBroken(event: string, what: string, file: BrokenFile, log: Log): void {
  log.error({ event, ...file, excerpt: undefined }, `${what}: ${brokenFileText(file)}`);
}
