/**
 * The server that the environment names. One that is empty counts as not given, as in the programs' settings.
 *
 * @param {string} variable AMQP_URL or DATABASE_URL
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {string | undefined}
 */
export function givenServer(variable, env = process.env) {
  return env[variable] === "" ? undefined : env[variable];
}
