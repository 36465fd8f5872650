import { afterAll, afterEach } from "vitest";
import { closeClients } from "../broker/broker-client.ts";
import { closeProxies } from "../broker/tcp-proxy.ts";
import { closeBrowsers } from "../browser/browsers-open.ts";
import { killForgotten, tellLastLines } from "../processes/processes.ts";
import { endWatch, tellFlaws } from "../rest/watched-answers.ts";
import { takeServersBack } from "../servers/servers.ts";

/**
 * Vitest runs this before each file that needs servers: several of them share a process and its modules, so that what a file
 * opened by them is closed here and what they remember of it is forgotten. Hooks run last in, first out, and those of the
 * file itself before these.
 */
afterAll(takeServersBack);
afterAll(killForgotten);
afterAll(closeProxies);
afterAll(endWatch);
afterAll(closeBrowsers);
afterEach(closeClients);
afterEach(tellFlaws);
afterEach(({ task }) => {
  if (task.result?.state === "fail") tellLastLines(task.result.startTime ?? 0);
});
