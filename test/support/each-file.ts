import { afterAll, afterEach } from "vitest";
import { closeClients } from "./broker-client.ts";
import { killForgotten } from "./processes.ts";
import { takeServersBack } from "./servers.ts";
import { closeProxies } from "./tcp-proxy.ts";
import { endWatch, tellFlaws } from "./watched-answers.ts";

/**
 * Vitest runs this before each file that needs servers: several of them share a process and its modules, so that what a file
 * opened by them is closed here and what they remember of it is forgotten. Hooks run last in, first out, and those of the
 * file itself before these.
 */
afterAll(takeServersBack);
afterAll(killForgotten);
afterAll(closeProxies);
afterAll(endWatch);
afterEach(closeClients);
afterEach(tellFlaws);
