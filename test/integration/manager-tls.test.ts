import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { type Agent, Agent as HttpsAgent, request } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { connect as connectTls, type PeerCertificate } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ServerTls } from "../../services/observer-manager/src/adapters/http/server/server-tls.ts";
import { runHealthCheck } from "../support/deploy/health-check.ts";
import { eventually } from "../support/eventually.ts";
import { startProcess } from "../support/processes/processes.ts";
import { runCli } from "../support/processes/unacked-cli.ts";
import { type HttpManager, startHttpManager } from "../support/rest/http-manager.ts";
import { watchAnswer } from "../support/rest/watched-answers.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { putService, useBooks } from "../support/servers/books.ts";
import { authority, type Certificate } from "../support/servers/certificates.ts";
import { temporaryFolder } from "../support/servers/servers.ts";

const ca = authority("http-ca");
const stranger = authority("another-http-ca");
const server = ca.sign("server", { host: "localhost" });
const renewed = ca.sign("renewed", { host: "localhost" });
const client = ca.sign("client");
const strangersClient = stranger.sign("client");
const trusted = readFileSync(ca.certFile);
const PATH = "/api/v1/stats";

const books = useBooks();

const start = (tls: ServerTls): Promise<HttpManager> => startHttpManager(books.databaseUrl, undefined, { tls });
const portOf = ({ url }: HttpManager): number => Number(new URL(url).port);

interface Asked {
  status: number;
  headers: Record<string, unknown>;
  /** The name that the server's certificate bears. */
  name: string;
}

/** One request with a connection of its own, by the name that the certificate bears. */
function ask(port: number, { certificate, agent }: { certificate?: Certificate; agent?: Agent } = {}): Promise<Asked> {
  const own = certificate && { cert: readFileSync(certificate.certFile), key: readFileSync(certificate.keyFile) };
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: "localhost", family: 4, port, path: PATH, ca: trusted, agent: agent ?? false, ...own },
      (response) => {
        const { subject } = (response.socket as unknown as { getPeerCertificate(): PeerCertificate }).getPeerCertificate();
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.once("end", () => {
          const { statusCode: status = 0, headers } = response;
          const seen = new Headers(Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]));
          watchAnswer({ method: "GET", url: PATH, status, headers: seen, text: Buffer.concat(chunks).toString() });
          resolve({ status, headers, name: String(subject.CN) });
        });
      },
    );
    sent.once("error", reject).end();
  });
}

describe("REST over TLS", () => {
  test("is answered by the certificate, with HSTS, and plain HTTP is not spoken at all", async () => {
    const manager = await start(server);
    expect(manager.url).toMatch(/^https:/);
    const answer = await ask(portOf(manager));
    expect(answer).toMatchObject({ status: 200, name: "server" });
    expect(answer.headers["strict-transport-security"]).toMatch(/^max-age=\d{7,}/);
    await expect(fetch(manager.url.replace("https:", "http:"))).rejects.toThrow();
    // A client that does not know the authority does not go on.
    await expect(fetch(`https://localhost:${portOf(manager)}/healthz`)).rejects.toMatchObject({
      cause: { code: expect.stringMatching(/UNABLE_TO_VERIFY|SELF_SIGNED/) },
    });
  });

  test("takes no version of TLS before 1.2", async () => {
    const manager = await start(server);
    const versionOf = (maxVersion: "TLSv1.1" | "TLSv1.2" | "TLSv1.3") =>
      new Promise<string | null>((resolve) => {
        const options = { port: portOf(manager), host: "127.0.0.1", ca: trusted, servername: "localhost", maxVersion };
        const ciphers = "DEFAULT@SECLEVEL=0"; // or the client itself would not try
        const socket = connectTls({ ...options, ciphers, minVersion: "TLSv1" }, () => resolve(socket.getProtocol()));
        socket.once("error", () => resolve(null));
        onTestFinished(() => void socket.destroy());
      });
    expect([await versionOf("TLSv1.1"), await versionOf("TLSv1.2"), await versionOf("TLSv1.3")]).toEqual([
      null,
      "TLSv1.2",
      "TLSv1.3",
    ]);
  });

  test("is for those alone who bring a certificate of the named authority, where that is asked for", async () => {
    const manager = await start({ ...server, clientCaFile: ca.certFile });
    expect((await ask(portOf(manager), { certificate: client })).status).toBe(200);
    await expect(ask(portOf(manager))).rejects.toThrow();
    await expect(ask(portOf(manager), { certificate: strangersClient })).rejects.toThrow();
    expect(manager.lines.filter(({ message }) => message === "Answered")).toHaveLength(1);
  });

  test("is well to the health check of its image, which has no certificate, also where clients need one", async () => {
    for (const clientCaFile of [undefined, ca.certFile]) {
      const manager = await start({ ...server, clientCaFile });
      const env = { PORT: String(portOf(manager)), TLS_CERT_FILE: server.certFile };
      const check = () =>
        runHealthCheck("observer-manager", { ...env, ...(clientCaFile && { TLS_CLIENT_CA_FILE: clientCaFile }) });
      expect(await check()).toBe(0);
      await manager.close();
      expect(await check()).toBe(1);
    }
  });

  test.runIf(isTurnOf(0))(
    "is spoken by the command line, with its certificate from options or a context; else it says what to do",
    async () => {
      const manager = await start({ ...server, clientCaFile: ca.certFile });
      const cwd = temporaryFolder("cli");
      const env = { UNACKED_URL: "", UNACKED_TOKEN: "", XDG_CONFIG_HOME: cwd };
      const unacked = (...args: string[]) => runCli(args, { cwd, env });
      const url = ["--url", `https://localhost:${portOf(manager)}`];
      const authorityOf = ({ certFile }: Certificate) => ["--certificate-authority", certFile];
      const mine = ["--client-certificate", client.certFile, "--client-key", client.keyFile];
      const theirs = ["--client-certificate", strangersClient.certFile, "--client-key", strangersClient.keyFile];

      expect(await unacked("get", "observers", "-o", "json", ...url, ...authorityOf(ca), ...mine)).toMatchObject({
        code: 0,
      });
      await unacked("config", "set-context", "there", ...url, ...authorityOf(ca), ...mine);
      expect(await unacked("get", "observers", "-o", "json")).toMatchObject({
        code: 0,
        out: expect.stringContaining("items"),
      });
      expect((await unacked("get", "observers", ...url, ...mine)).err).toContain("--certificate-authority FILE");
      for (const certificate of [[], theirs])
        expect((await unacked("get", "observers", ...url, ...authorityOf(ca), ...certificate)).err).toContain(
          "--client-certificate FILE",
        );
    },
  );

  test("is spoken by the completion of the command line, too, with the certificates of the context, or of the line so far", async () => {
    const name = "completed-1";
    await putService(books.dataSource, { name });
    const manager = await start({ ...server, clientCaFile: ca.certFile });
    const cwd = temporaryFolder("completion");
    const env = { UNACKED_URL: "", UNACKED_TOKEN: "", XDG_CONFIG_HOME: cwd };
    const unacked = (...args: string[]) => runCli(args, { cwd, env });
    const address = ["--url", `https://localhost:${portOf(manager)}`, "--certificate-authority", ca.certFile];
    const mine = ["--client-certificate", client.certFile, "--client-key", client.keyFile];
    expect((await unacked("__complete", "--", ...address, ...mine, "drain", "")).out).toBe(`${name}\n`);
    await unacked("config", "set-context", "there", ...address, ...mine);
    expect((await unacked("__complete", "--", "drain", "")).out).toBe(`${name}\n`);
  });

  test.runIf(isTurnOf(1))(
    "shows a renewed certificate to the next client, and the old one while the new one is no good",
    async () => {
      const dir = temporaryFolder("renewal");
      const tls = { certFile: join(dir, "tls.crt"), keyFile: join(dir, "tls.key") };
      const put = ({ certFile, keyFile }: Certificate) => {
        copyFileSync(certFile, tls.certFile);
        copyFileSync(keyFile, tls.keyFile);
      };
      put(server);
      const manager = await start(tls);
      const kept = new HttpsAgent({ keepAlive: true, maxSockets: 1 });
      onTestFinished(() => kept.destroy());
      expect((await ask(portOf(manager), { agent: kept })).name).toBe("server");

      writeFileSync(tls.certFile, "no certificate");
      await eventually(
        () => manager.lines.some(({ fields }) => "event" in fields && fields.event === "certificate-refused"),
        {
          timeoutMs: 15_000,
        },
      );
      expect((await ask(portOf(manager))).name).toBe("server");
      put(renewed);
      await eventually(async () => expect((await ask(portOf(manager))).name).toBe("renewed"), { timeoutMs: 15_000 });
      expect((await ask(portOf(manager), { agent: kept })).status).toBe(200);
    },
    240_000,
  );

  test.runIf(isTurnOf(2))(
    "ends in time, also with connections that say nothing or have not finished their handshake",
    async () => {
      const manager = await start(server);
      const silent = connect(portOf(manager), "127.0.0.1");
      const idle = connectTls({ port: portOf(manager), host: "127.0.0.1", ca: trusted, servername: "localhost" });
      for (const socket of [silent, idle]) socket.on("error", () => undefined);
      await Promise.all([
        new Promise((resolve) => silent.once("connect", resolve)),
        new Promise((resolve) => idle.once("secureConnect", resolve)),
      ]);
      const idleEnded = new Promise((resolve) => idle.once("close", resolve));
      const startedAt = performance.now();
      await manager.server.close();
      await idleEnded;
      expect(performance.now() - startedAt).toBeLessThan(25_000);
    },
  );
});

test("a manager whose certificate and key do not go together does not start, and says so", async () => {
  const env = {
    AMQP_URL: "amqp://127.0.0.1:9",
    DATABASE_URL: books.databaseUrl,
    PORT: "0",
    TLS_CERT_FILE: server.certFile,
    TLS_KEY_FILE: client.keyFile,
  };
  const manager = startProcess({ file: "services/observer-manager/bundle/main.js", env });
  expect(await manager.exited).toEqual({ code: 2, signal: null });
  expect(manager.lines.join("\n")).toMatch(/cannot start: TLS_CERT_FILE, TLS_KEY_FILE: .*mismatch/);
});
