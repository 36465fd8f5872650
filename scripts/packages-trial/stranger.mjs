import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { PlainError } from "../progress.mjs";
import { runTool } from "../setup/run-tool.mjs";

/**
 * Somebody who has never seen the repository: a home, a cache and settings of npm of their own, and one registry.
 *
 * @typedef {ReturnType<typeof strangerIn>} Stranger
 * @param {string} dir
 * @param {string} registry
 * @param {string} node the program of theirs
 */
export function strangerIn(dir, registry, node) {
  const home = join(dir, "home");
  mkdirSync(home, { recursive: true });
  // A word to the registry that it makes nothing of: npm publishes for nobody without one.
  const login = `${registry.replace(/^http:/, "")}:_authToken=anybody`;
  writeFileSync(join(home, ".npmrc"), `registry=${registry}\n${login}\naudit=false\nfund=false\nupdate-notifier=false\n`);
  const PATH = `${dirname(node)}${delimiter}${process.env.PATH}`;
  const env = { PATH, HOME: home, npm_config_cache: join(dir, "npm-cache"), NO_COLOR: "1" };

  return {
    env,
    /** @param {string} cwd @param {string} program @param {string[]} args @param {NodeJS.ProcessEnv} [more] */
    run: (cwd, program, args, more = {}) => runTool(program, args, { cwd, env: { ...env, ...more } }),
    /**
     * Of a command that is meant to fail: what it said.
     *
     * @param {string} cwd @param {string} program @param {string[]} args
     */
    async refusal(cwd, program, args) {
      try {
        await runTool(program, args, { cwd, env });
      } catch (error) {
        return /** @type {Error} */ (error).message;
      }
      throw new PlainError(`${[program, ...args].join(" ")} should have failed.`);
    },
  };
}

/** @param {string} text @param {string} part @param {string} from */
export function expectIn(text, part, from) {
  if (!text.includes(part)) throw new PlainError(`${from} does not say "${part}", but:\n${text.slice(0, 2_000)}`);
}
