import { spawn } from "node:child_process";
import { once } from "node:events";
import { lastOf } from "./dockerfile.ts";

/** Runs the health check of a program's image as a container engine does. @returns its exit code: 0 where the program is well */
export async function runHealthCheck(program: string, env: Readonly<Record<string, string>>): Promise<number> {
  const check = lastOf(program, "HEALTHCHECK") ?? "";
  const [command = "", ...args] = JSON.parse(check.slice(check.indexOf("["))) as string[];
  const child = spawn(command, args, { env: { PATH: process.env.PATH, ...env }, stdio: "ignore" });
  const [code] = (await once(child, "exit")) as [number];
  return code;
}
