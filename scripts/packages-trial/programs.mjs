import { expectIn } from "./stranger.mjs";

/**
 * The programs, by their names: help, version, and what they say without settings.
 *
 * @param {import("./stranger.mjs").Stranger} stranger
 * @param {string} project
 * @param {string} version
 */
export async function tryPrograms({ run, refusal }, project, version) {
  const help = await run(project, "npx", ["unacked", "--help"]);
  expectIn(help, "Usage: unacked", "unacked --help");
  for (const program of ["unacked", "unacked-manager", "unacked-service"])
    expectIn(await run(project, "npx", [program, "--version"]), version, `${program} --version`);
  for (const program of ["unacked-manager", "unacked-service"]) {
    expectIn(await run(project, "npx", [program, "--help"]), "AMQP_URL", `${program} --help`);
    expectIn(await refusal(project, "npx", [program]), "AMQP_URL: is required", `${program} without settings`);
    expectIn(await refusal(project, "npx", [program, "--nonsense"]), "takes no --nonsense", `${program} --nonsense`);
  }
}
