import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { startDoors } from "../../scripts/servers/cluster/doors.mjs";
import { type Host, startNetwork, whyNoNetwork } from "../../scripts/servers/cluster/network.mjs";
import { eventually } from "../support/eventually.ts";
import { ROOT } from "../support/processes/processes.ts";

const PORT = 7_777;
/** Says hello to every client. */
const GREETER = `require("net").createServer((socket) => socket.end("hello")).listen(${PORT})`;
/** Prints what the one at this address says; fails when nobody answers within five seconds. */
const CALLER = `require("net").connect({ host: process.argv[1], port: +process.argv[2] }).setTimeout(5000, () => process.exit(1)).pipe(process.stdout)`;

describe.skipIf(whyNoNetwork() !== null)("a network of our own", () => {
  const ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends.splice(0).reverse()) end();
  });

  async function greetedNetwork() {
    const network = await startNetwork(["a", "b"]);
    ends.push(network.end);
    const [a, b] = network.hosts as [Host, Host];
    const greeter = within(b.enter, GREETER);
    ends.push(() => greeter.kill("SIGKILL"));
    const ask = () => hear(a.enter, b.address, PORT);
    await eventually(async () => expect(await ask()).toBe("hello"), { what: "b's greeting" });
    return { network, a, b, ask };
  }

  it("cuts a link beside another network with the same addresses; a door from loopback stays open", async () => {
    const [one, other] = await Promise.all([greetedNetwork(), greetedNetwork()]);
    const doors = startDoors(one.network);
    ends.push(doors.end);
    const port = await doors.open(one.b, PORT);

    await one.network.cut([[one.a, one.b]], "silent");
    await expect(one.ask()).rejects.toThrow();
    expect(await hear([], "127.0.0.1", port)).toBe("hello");
    expect(await other.ask()).toBe("hello");

    await one.network.heal();
    expect(await one.ask()).toBe("hello");
  });

  it("is gone with its maker, although that was killed", async () => {
    const script = `import("${ROOT}/scripts/servers/cluster/network.mjs").then(async ({ startNetwork }) => {
      const { hosts, enterRouter } = await startNetwork(["a", "b", "c"]);
      console.log(JSON.stringify([...hosts.map(({ enter }) => enter), enterRouter]));
      setInterval(() => undefined, 1000);
    })`;
    const maker = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    const line = await new Promise<string>((resolve) => createInterface(maker.stdout).once("line", resolve));
    const holders = (JSON.parse(line) as string[][]).map(([, net = ""]) => net.replace("--net=", ""));
    expect(holders.map(existsSync)).toEqual([true, true, true, true]);
    maker.kill("SIGKILL");
    await eventually(() => expect(holders.map(existsSync)).toEqual([false, false, false, false]), { what: "their end" });
  });
});

function within([program = process.execPath, ...args]: string[], script: string): ChildProcess {
  return spawn(program, [...args, process.execPath, "-e", script], { stdio: "ignore" });
}

async function hear(enter: string[], host: string, port: number): Promise<string> {
  const [program, ...args] = [...enter, process.execPath, "-e", CALLER, host, String(port)];
  return (await promisify(execFile)(program, args)).stdout;
}
