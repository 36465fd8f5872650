import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrokerTls } from "@unacked/broker";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { freePort } from "../../scripts/servers/free-port.mjs";
import { findPostgres, handOver } from "../../scripts/servers/postgres-program.mjs";
import { DatabaseSide } from "../../services/observer-manager/src/adapters/postgres/database-side.ts";
import { supervised } from "../support/broker/broker-client.ts";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { authority, type Certificate } from "../support/servers/certificates.ts";
import { privateBroker, privatePostgres } from "../support/servers/servers.ts";
import { startObserverService } from "../support/system/observer-service.ts";
import { System } from "../support/system/system.ts";

const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

const ca = authority("our-ca");
const stranger = authority("another-ca");
const server = ca.sign("server", { host: "localhost" });
const expired = ca.sign("expired", { host: "localhost", isExpired: true });
const client = ca.sign("client");
const strangersClient = stranger.sign("client");
const trusted = { caFile: ca.certFile, certFile: client.certFile, keyFile: client.keyFile };

/** A broker that takes connections by TLS too; with `clients`, from those alone who bring a certificate of our authority. */
async function tlsBroker(certificate: Certificate, clients: boolean) {
  const port = await freePort();
  const broker = await privateBroker({
    config: {
      "listeners.ssl.1": `127.0.0.1:${port}`,
      "ssl_options.cacertfile": ca.certFile,
      "ssl_options.certfile": certificate.certFile,
      "ssl_options.keyfile": certificate.keyFile,
      "ssl_options.verify": clients ? "verify_peer" : "verify_none",
      "ssl_options.fail_if_no_peer_cert": String(clients),
    },
  });
  return { broker, url: (host: string) => `amqps://guest:guest@${host}:${port}` };
}

describe.runIf(isTurnOf(0))("AMQP over TLS, to a broker that asks for a client certificate", () => {
  let url: (host: string) => string;
  let expiredUrl: (host: string) => string;
  beforeAll(async () => {
    ({ url } = await tlsBroker(server, true));
    ({ url: expiredUrl } = await tlsBroker(expired, false));
  });

  const untilUp = (host: string, tls: BrokerTls) => supervised(url(host), {}, { tls }).connection.up();
  const lossOf = async (address: string, tls: BrokerTls) => {
    const { connection } = supervised(address, {}, { tls });
    return eventually(() => connection.status.lastLoss ?? expect.fail("nothing lost yet"));
  };

  test("is up where each side knows the other", async () => {
    await untilUp("localhost", trusted);
  });

  test("holds the certificate against another name where that is asked for", async () => {
    await untilUp("127.0.0.1", { ...trusted, serverName: "localhost" });
  });

  test.each<[what: string, host: string, tls: BrokerTls, detail: RegExp, remedy: string]>([
    ["an authority that nobody knows", "localhost", {}, /self-signed certificate|unable to/, "AMQP_TLS_CA_FILE"],
    [
      "another authority",
      "localhost",
      { ...trusted, caFile: stranger.certFile },
      /self-signed|unable to/,
      "AMQP_TLS_CA_FILE",
    ],
    ["another name", "127.0.0.1", trusted, /altnames/, "AMQP_TLS_SERVER_NAME"],
    ["no client certificate", "localhost", { caFile: ca.certFile }, /alert|closed/i, "AMQP_TLS_CERT_FILE"],
    ["a stranger's client certificate", "localhost", { ...trusted, ...strangersClient }, /alert/, "refuses the client"],
    ["a file that is gone", "localhost", { caFile: "/nowhere/ca.pem" }, /ENOENT.*\/nowhere\/ca.pem/, "AMQP_TLS_…"],
  ])("says what is wrong and what to do by %s, and goes on trying", async (_, host, tls, detail, remedy) => {
    const loss = await lossOf(url(host), tls);
    expect(loss.kind).toBe("connect-failed");
    expect(loss.detail).toMatch(detail);
    expect(loss.remedy).toContain(remedy);
  });

  test("says that the broker's certificate has expired", async () => {
    const loss = await lossOf(expiredUrl("localhost"), { caFile: ca.certFile });
    expect(loss).toMatchObject({ detail: expect.stringContaining("expired"), remedy: expect.stringContaining("Renew") });
  });

  test("a service that cannot trust its broker is not ready, says why, and does not end", async () => {
    const service = startObserverService(url("localhost"), { env: { AMQP_TLS_CA_FILE: stranger.certFile } });
    onTestFinished(async () => void (await service.kill()));
    const health = String((await service.waitForEvent("listening")).url);
    await eventually(async () => {
      const { consumer } = (await (await fetch(`${health}/readyz`)).json()) as {
        consumer: { lastLoss?: { remedy?: string } };
      };
      expect(consumer.lastLoss?.remedy).toContain("AMQP_TLS_CA_FILE");
    });
    expect(service.exit()).toBeNull();
  });

  test.each<[what: string, env: Record<string, string>, words: string]>([
    ["a file is not there", { AMQP_TLS_CA_FILE: "/nowhere/ca.pem" }, "AMQP_TLS_CA_FILE: cannot be read: ENOENT"],
    ["a key is missing", { AMQP_TLS_CERT_FILE: client.certFile }, "AMQP_TLS_KEY_FILE: is required, too"],
  ])("a service does not start when %s, and names the setting", async (_, env, words) => {
    const service = startObserverService(url("localhost"), { env });
    expect(await service.exited).toEqual({ code: 2, signal: null });
    expect(service.lines.join()).toContain(words);
  });

  test("a service does not start when it has files for an address that is not encrypted", async () => {
    const service = startObserverService("amqp://localhost", { env: { AMQP_TLS_CA_FILE: ca.certFile } });
    expect(await service.exited).toEqual({ code: 2, signal: null });
    expect(service.lines.join()).toContain("AMQP_TLS_CA_FILE: goes with an amqps:// AMQP_URL");
  });
});

/** PostgreSQL wants its key to be its own, in a place that its user can reach. */
const serversDir = mkdtempSync(join(tmpdir(), "unacked-tls-"));
afterAll(() => rmSync(serversDir, { recursive: true, force: true }));

function ownedByPostgres(file: string, name: string): string {
  const path = join(serversDir, name);
  copyFileSync(file, path);
  chmodSync(path, 0o600);
  handOver(path, findPostgres(serversDir, undefined));
  return path;
}

async function tlsPostgres(certificate: Certificate, name: string) {
  chmodSync(serversDir, 0o755);
  const hba = join(serversDir, `${name}.conf`);
  writeFileSync(hba, "hostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca\n");
  const { databaseUrl } = await privatePostgres({
    config: {
      ssl: "on",
      ssl_ca_file: ownedByPostgres(ca.certFile, `${name}-ca.pem`),
      ssl_cert_file: ownedByPostgres(certificate.certFile, `${name}.pem`),
      ssl_key_file: ownedByPostgres(certificate.keyFile, `${name}.key`),
      hba_file: ownedByPostgres(hba, `${name}-hba.conf`),
    },
  });
  return (host: string, mode?: string) =>
    `${databaseUrl.replace("127.0.0.1", host)}${mode === undefined ? "" : `?sslmode=${mode}`}`;
}

describe("PostgreSQL over TLS, where it asks for a client certificate", () => {
  let url: (host: string, mode?: string) => string;
  let expiredUrl: (host: string, mode?: string) => string;
  beforeAll(async () => {
    url = await tlsPostgres(server, "server");
    expiredUrl = await tlsPostgres(expired, "expired");
  });

  /** Whether the books can be opened, and what readiness says of it. */
  async function opened(databaseUrl: string, tls: object) {
    const database = new DatabaseSide({ databaseUrl, tls, poolSize: 3, log: SILENT });
    onTestFinished(() => database.close());
    return { isOpen: (await database.open()) === 0, check: await database.check() };
  }

  test.each<[what: string, host: string, mode: string | undefined, tls: object]>([
    ["each side knows the other", "localhost", undefined, trusted],
    ["the name is not asked for", "127.0.0.1", "verify-ca", trusted],
    ["another name is asked for", "127.0.0.1", "verify-full", { ...trusted, serverName: "localhost" }],
    ["nothing is asked of the server", "127.0.0.1", "require", { ...trusted, caFile: stranger.certFile }],
  ])("the books open where %s", async (_, host, mode, tls) => {
    expect(await opened(url(host, mode), tls)).toEqual({ isOpen: true, check: { ok: true, detail: "answers" } });
  });

  test("files are read at each connection; while one is gone, what was in it counts on", async () => {
    const caFile = join(serversDir, "renewed-ca.pem");
    copyFileSync(stranger.certFile, caFile);
    const database = new DatabaseSide({
      databaseUrl: url("localhost"),
      tls: { ...trusted, caFile },
      poolSize: 2,
      log: SILENT,
    });
    onTestFinished(() => database.close());
    expect(await database.open()).toBeGreaterThan(0);
    copyFileSync(ca.certFile, caFile);
    expect(await database.open()).toBe(0);
    rmSync(caFile);
    expect(await database.check()).toEqual({ ok: true, detail: "answers" });
    const another = Promise.all([database.check(), database.check()]);
    expect((await another).map(({ ok }) => ok)).toEqual([true, true]);
  });

  test.each<[what: string, host: string, tls: object, detail: RegExp, remedy: string]>([
    [
      "another authority",
      "localhost",
      { ...trusted, caFile: stranger.certFile },
      /self-signed|unable to/,
      "DATABASE_TLS_CA_FILE",
    ],
    ["another name", "127.0.0.1", trusted, /altnames/, "DATABASE_TLS_SERVER_NAME"],
    ["no client certificate", "localhost", { caFile: ca.certFile }, /client certificate/, "DATABASE_TLS_CERT_FILE"],
    ["a stranger's client certificate", "localhost", { ...trusted, ...strangersClient }, /alert|Connection/, ""],
  ])("by %s they stay closed, and readiness says why and what to do", async (_, host, tls, detail, remedy) => {
    const { isOpen, check } = await opened(url(host, "verify-full"), tls);
    expect(isOpen).toBe(false);
    expect(check).toMatchObject({
      ok: false,
      detail: expect.stringMatching(detail),
      remedy: expect.stringContaining(remedy),
    });
  });

  test("an expired certificate, no TLS at the server, and none at the client are told apart", async () => {
    expect((await opened(expiredUrl("localhost"), trusted)).check).toMatchObject({
      detail: expect.stringContaining("expired"),
      remedy: expect.stringContaining("Renew"),
    });
    expect((await opened(`${inject("databaseUrl")}?sslmode=require`, {})).check).toMatchObject({
      remedy: expect.stringContaining("Switch TLS on"),
    });
    expect((await opened(url("127.0.0.1"), {})).check).toMatchObject({
      remedy: expect.stringContaining("sslmode=verify-full"),
    });
  });

  test.runIf(isTurnOf(1))(
    "the whole system runs with both servers over TLS, each side known to the other",
    async () => {
      const { broker, url: amqps } = await tlsBroker(server, true);
      const env = {
        AMQP_TLS_CA_FILE: ca.certFile,
        AMQP_TLS_CERT_FILE: client.certFile,
        AMQP_TLS_KEY_FILE: client.keyFile,
        DATABASE_TLS_CA_FILE: ca.certFile,
        DATABASE_TLS_CERT_FILE: client.certFile,
        DATABASE_TLS_KEY_FILE: client.keyFile,
      };
      const system = new System({
        amqpUrl: amqps("localhost"),
        databaseUrl: url("localhost", "verify-full"),
        management: broker.management,
        env,
      });
      onTestFinished(() => system.close());
      await system.startManager();
      await system.startService("service-1");
      const [first] = await system.createMany("observer", 4);
      await system.service("service-1").kill("SIGKILL");
      await system.startService("service-1");
      await system.remove(first?.id ?? "");
      await system.check();
    },
    240_000,
  );
});
