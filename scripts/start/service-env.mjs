/** Which of the managers' settings are secret, or name a file of secrets. AMQP_URL is the services', too. */
const OF_MANAGERS_ALONE = [
  "DATABASE_URL",
  "DATABASE_URL_FILE",
  "DATABASE_TLS_KEY_FILE",
  "AUTH_TOKENS",
  "AUTH_TOKENS_FILE",
  "TLS_KEY_FILE",
];

/**
 * An environment without what only managers need to know: observers have all of their service's but its own settings, and the database is the
 * managers' alone (docs/security.md).
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv}
 */
export function withoutManagersSecrets(env) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OF_MANAGERS_ALONE.includes(name)));
}
