import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { parse, stringify } from "yaml";
import { usageFailure } from "../failure.ts";
import { ContextFile } from "./contexts.ts";

/** `$XDG_CONFIG_HOME/unacked/config.yaml`, where that is an absolute path (the specification's rule), else below `~/.config`. */
export function contextFilePath(env: NodeJS.ProcessEnv): string {
  const base = env.XDG_CONFIG_HOME?.startsWith("/") === true ? env.XDG_CONFIG_HOME : join(env.HOME ?? homedir(), ".config");
  return join(base, "unacked", "config.yaml");
}

/** Empty if there is no file. */
export function readContextFile(path: string): ContextFile {
  const text = readIfThere(path);
  if (text === undefined) return { contexts: {} };
  const parsed = ContextFile.safeParse(parsedYaml(text, path) ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw usageFailure(
    `${path} is wrong: ${issue?.path.join(".") || "the file"}: ${issue?.message}`,
    "Correct it, or remove it.",
  );
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw usageFailure(`${path} cannot be read: ${(error as Error).message}`);
  }
}

function parsedYaml(text: string, path: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw usageFailure(`${path} is not YAML: ${(error as Error).message.split("\n")[0]}`, "Correct it, or remove it.");
  }
}

/**
 * Replaces the file as a whole, so that no reader sees half of it. Only its owner can read it (mode 600), as it holds
 * tokens.
 */
export function writeContextFile(path: string, file: ContextFile): void {
  const draft = `${path}.${process.pid}.tmp`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, stringify(file), { mode: 0o600, flag: "wx" });
    chmodSync(draft, 0o600);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw usageFailure(`${path} cannot be written: ${(error as Error).message}`);
  }
}

/** Whether others than its owner can read the file. Always false on Windows, which has no such modes. */
export function isReadableByOthers(path: string): boolean {
  if (process.platform === "win32") return false;
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0;
}
