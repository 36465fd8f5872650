import { PlainError, say, step } from "../progress.mjs";
import { givenServer } from "../servers/given-server.mjs";
import { findPostgresFolder, linkLibraries } from "../servers/postgres-program.mjs";
import { dockerAnswers, findRabbitmq } from "../servers/rabbitmq-program.mjs";
import { canInstall, installPackage, isDebianLike } from "./apt-get.mjs";
import { removeLeftPolicy, withoutStartingServices } from "./service-policy.mjs";

/** Makes sure that PostgreSQL can be started, unless the environment names one that runs. It is among the npm packages. */
export function providePostgres() {
  if (givenServer("DATABASE_URL") !== undefined) return;
  const folder = findPostgresFolder();
  if (folder === null) {
    throw new PlainError(
      `There is no embedded PostgreSQL for ${process.platform} on ${process.arch}. Set DATABASE_URL to a PostgreSQL 14 or newer of yours, ` +
        "for example DATABASE_URL=postgres://user:password@127.0.0.1:5432/unacked",
    );
  }
  linkLibraries(folder);
}

/** Likewise RabbitMQ, of which nothing comes from npm. */
export async function provideRabbitmq() {
  if (canInstall()) removeLeftPolicy();
  if (givenServer("AMQP_URL") !== undefined || findRabbitmq() !== null) return;
  if (await dockerAnswers()) return say("RabbitMQ is not installed: it will run in Docker.");
  if (canInstall()) return installRabbitmq();
  throw new PlainError(
    [
      "RabbitMQ is missing. One of these will do:",
      `  - install it: ${installCommand()}`,
      "  - start Docker: it then runs in a container",
      "  - set AMQP_URL to a RabbitMQ 3.10 or newer of yours, for example AMQP_URL=amqp://guest:guest@127.0.0.1:5672",
      "    (it needs consumer_timeout = 315360000000 in its rabbitmq.conf, or it cuts every job after 30 minutes)",
    ].join("\n"),
  );
}

async function installRabbitmq() {
  await step("Installing RabbitMQ by apt-get (rabbitmq-server and Erlang, about 80 MB)", () =>
    withoutStartingServices(() =>
      installPackage("rabbitmq-server", "Install rabbitmq-server yourself, start Docker, or set AMQP_URL."),
    ),
  );
}

function installCommand() {
  if (process.platform === "darwin") return "brew install rabbitmq";
  return isDebianLike() ? "sudo apt-get install rabbitmq-server" : "rabbitmq-server from your system's packages";
}
