import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { WHOLE } from "../../services/observer-manager/src/domain/access/task-share.ts";
import { parseTokenList } from "../../services/observer-manager/src/domain/access/token-list.ts";
import { dev, example, ofKind, workloadsOf } from "../support/deploy/overlays.ts";
import { configurationOf, secretsOf } from "../support/deploy/workloads.ts";

const { manifests } = dev;
const broker = workloadsOf(dev).find(({ metadata }) => metadata.name === "rabbitmq") ?? expect.fail("no broker");

it("the overlay's broker has the configuration under which no job is cut for being unacked", () => {
  expect(configurationOf(manifests, "rabbitmq-conf")["20-unacked.conf"]).toContain("consumer_timeout = 315360000000");
  expect(broker.spec.template.spec.containers[0]?.volumeMounts).toContainEqual(
    expect.objectContaining({ mountPath: "/etc/rabbitmq/conf.d/20-unacked.conf", subPath: "20-unacked.conf" }),
  );
});

it("the overlay's broker has the users and rights of deploy/, with passwords from its Secret alone", () => {
  const [container] = broker.spec.template.spec.containers;
  const files = Object.keys(configurationOf(manifests, "rabbitmq-users"));
  expect(files.sort()).toEqual(["rabbitmq-definitions.json", "rabbitmq-definitions.sh", "rabbitmq-start.sh"]);
  expect(container?.command).toEqual(["sh", "/opt/unacked/rabbitmq-start.sh"]);
  expect(container?.env?.map(({ name, valueFrom }) => [name, valueFrom?.secretKeyRef?.key])).toEqual([
    ["MANAGER_PASSWORD", "RABBITMQ_MANAGER_PASSWORD"],
    ["SERVICE_PASSWORD", "RABBITMQ_SERVICE_PASSWORD"],
  ]);
});

it("the overlay lets nobody in without a token, and its one token is the one that it names", () => {
  const { AUTH_TOKENS = "" } = secretsOf(manifests, "unacked-connections");
  const sha256 = createHash("sha256").update("unacked-dev").digest("hex");
  const tokens = [{ name: "dev", role: "admin", sha256, share: WHOLE }];
  expect(parseTokenList(AUTH_TOKENS)).toEqual({ tokens, problems: [] });
  expect(parseTokenList(secretsOf(example, "unacked-connections").AUTH_TOKENS ?? "").problems).toEqual([]);
});

it("the overlay's addresses name its own servers, with the passwords that these are told", () => {
  const { MANAGER_AMQP_URL = "", SERVICE_AMQP_URL = "", DATABASE_URL = "" } = secretsOf(manifests, "unacked-connections");
  const passwords = secretsOf(manifests, "server-passwords");
  for (const [address, user, password] of [
    [MANAGER_AMQP_URL, "unacked-manager", passwords.RABBITMQ_MANAGER_PASSWORD],
    [SERVICE_AMQP_URL, "unacked-service", passwords.RABBITMQ_SERVICE_PASSWORD],
    [DATABASE_URL, "unacked", passwords.POSTGRES_PASSWORD],
  ] as const) {
    const url = new URL(address);
    expect([url.username, url.password]).toEqual([user, password]);
    const service = ofKind(dev, "Service").find(({ metadata }) => metadata.name === url.hostname)?.spec as {
      ports: { port: number }[];
    };
    expect(service.ports.map(({ port }) => String(port))).toEqual([url.port]);
  }
});
