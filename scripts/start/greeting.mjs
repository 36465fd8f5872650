import { bold } from "../progress.mjs";

/**
 * What is printed when all runs: where to look, what to try, how to stop. The lines can be pasted as they are.
 *
 * @param {{ managerUrl: string, brokerPage: string | null, hasTasks: boolean, services: { name: string, pid: number }[], observers: string | null, logDir: string, dataDir: string }} running
 */
export function greeting({ managerUrl, brokerPage, hasTasks, services, observers: folder, logDir, dataDir }) {
  const observers = `${managerUrl}/api/v1/observers`;
  const example = JSON.stringify({ name: "my-ticker", type: "ticker", params: { everyMs: 1000 } });
  const kills = services.map(({ name, pid }) => `    kill -9 ${pid}    # ${name}`);
  return [
    "",
    bold(`Unacked runs: ${managerUrl}`),
    "",
    ...(folder === null
      ? [
          "  Create an observer that never ends:",
          `    curl -sS -X POST ${observers} -H 'content-type: application/json' -d '${example}'`,
        ]
      : [
          `  Its observer types are those of ${folder}, in place of the shipped ones; so there is no demonstration. See them:`,
          `    curl -sS ${managerUrl}/api/v1/types`,
        ]),
    "  List what runs, and where:",
    `    curl -sS ${observers}`,
    ...(folder === null ? ["  Stop it:", `    curl -sS -X DELETE ${observers}/my-ticker`] : []),
    ...(hasTasks
      ? [
          "",
          "  Run a task, which ends, and see its result:",
          `    npx unacked run demo-words text="count these words" --pool demo --wait --url ${managerUrl}`,
        ]
      : []),
    "  Set a timer, which publishes a message at its time, and see whether anybody listens (nobody does: it is tried for a day, or until you end it):",
    `    npx unacked timer tea.ready --in 5s --url ${managerUrl}`,
    `    npx unacked get timers --url ${managerUrl}`,
    `    npx unacked delete timers ID --url ${managerUrl}`,
    ...(services.length === 0
      ? []
      : ["", "  Kill a service: its observers go on elsewhere at once, and it is back after 3 s:", ...kills]),
    "",
    ...(brokerPage === null ? [] : [`  RabbitMQ's own page: ${withoutCredentials(brokerPage)} (user and password: guest)`]),
    `  Logs: ${logDir}   Data: ${dataDir}`,
    "  Stop everything with Ctrl-C. The next npm start goes on where this one was.",
    "",
  ].join("\n");
}

/** @param {string} url */
function withoutCredentials(url) {
  const shown = new URL(url);
  shown.username = "";
  shown.password = "";
  return shown.href;
}
