import { describe, expect, it } from "vitest";
import type { Manifest } from "../support/deploy/kustomization.ts";
import { type Listener, mayTalk, type Talker } from "../support/deploy/network-policies.ts";
import { dev, type Overlay, ofKind, production, withIdentityProvider, workloadsOf } from "../support/deploy/overlays.ts";

const program = (name: string): Talker => ({ labels: { "app.kubernetes.io/name": name } });
const from = (namespace: string): Talker => ({ labels: {}, namespace });

const manager = program("observer-manager");
const service = program("observer-service");
const broker = program("rabbitmq");
const stranger: Talker = { labels: { app: "stranger" } };
const client: Talker = { labels: { "unacked-rest": "allowed" } };
/** Pods that CloudNativePG makes bear its label alone. */
const databases = { dev: program("postgres"), production: { labels: { "cnpg.io/cluster": "postgres" } } };

const at = ({ labels }: Talker, port: number, portName?: string): Listener => ({ labels, port, portName });
const rest = at(manager, 8080, "http");
const health = at(service, 8081, "health");

const talks = (overlay: Overlay, pairs: [Talker, Listener][]): boolean[] =>
  pairs.map(([who, whom]) => mayTalk(overlay.manifests, who, whom));
const all = (expected: boolean, count: number): boolean[] => Array.from({ length: count }, () => expected);

/** By TLS alone in production. */
const amqp = { dev: at(broker, 5672, "amqp"), production: at(broker, 5671, "amqps") };

describe.each([
  [dev, databases.dev, amqp.dev],
  [production, databases.production, amqp.production],
] as const)("the network policies of $name", (overlay, database, amqp) => {
  const sql = at(database, 5432, "postgres");

  it("let the programs reach what they need, and clients that bear the label reach REST", () => {
    const needed: [Talker, Listener][] = [
      [manager, amqp],
      [service, amqp],
      [manager, sql],
      [client, rest],
    ];
    expect(talks(overlay, needed)).toEqual(all(true, needed.length));
  });

  it("keep services from the database and from REST, and strangers from everything", () => {
    const refused: [Talker, Listener][] = [
      ...([
        [service, sql],
        [service, rest],
        [manager, health],
        [service, health],
      ] as [Talker, Listener][]),
      ...[rest, health, amqp, sql].map((whom): [Talker, Listener] => [stranger, whom]),
      ...[rest, health, amqp, sql].map((whom): [Talker, Listener] => [from("elsewhere"), whom]),
      ...[health, amqp, sql].map((whom): [Talker, Listener] => [client, whom]),
    ];
    expect(talks(overlay, refused)).toEqual(all(false, refused.length));
  });

  it("name ports that the pods have which they select", () => {
    const pods = workloadsOf(overlay).map(({ spec }) => spec.template);
    const named = ofKind(overlay, "NetworkPolicy").flatMap(({ metadata, spec }) => {
      const { podSelector, ingress = [] } = spec as { podSelector: object; ingress?: { ports?: { port: unknown }[] }[] };
      const names = ingress.flatMap(({ ports = [] }) => ports.map(({ port }) => port));
      return names.filter((port) => typeof port === "string").map((port) => ({ policy: metadata.name, podSelector, port }));
    });
    expect(named.length).toBeGreaterThan(0);
    const known = pods.flatMap(({ spec }) => spec.containers.flatMap(({ ports = [] }) => ports.map(({ name }) => name)));
    expect(named.filter(({ port }) => !known.includes(port))).toEqual([]);
  });
});

const outside = (address: string, port: number): Listener => ({ address, port });
const PRIVATE = ["10.0.0.1", "100.64.0.1", "169.254.169.254", "172.16.0.1", "192.168.0.1", "fd00::1", "fe80::1"];

describe("who may talk to the world", () => {
  const withProvider = withIdentityProvider();
  const reach = (manifests: Manifest[], who: Talker, address: string, port: number) =>
    mayTalk(manifests, who, outside(address, port));

  it("are observers, to the web alone, and managers not at all", () => {
    for (const address of ["203.0.113.7", "2001:db8::7"]) {
      expect([443, 80, 22].map((port) => reach(production.manifests, service, address, port))).toEqual([true, true, false]);
      expect([443, 80, 5432].map((port) => reach(production.manifests, manager, address, port))).toEqual(all(false, 3));
    }
    expect(PRIVATE.filter((address) => reach(production.manifests, service, address, 443))).toEqual([]);
  });

  it("are managers too where there is an identity provider, to HTTPS in public networks alone", () => {
    for (const address of ["203.0.113.7", "2001:db8::7"])
      expect([443, 80, 5432].map((port) => reach(withProvider, manager, address, port))).toEqual([true, false, false]);
    expect(PRIVATE.filter((address) => reach(withProvider, manager, address, 443))).toEqual([]);
    expect(talks({ ...production, manifests: withProvider }, [[manager, health]])).toEqual([false]);
  });
});

describe("the network policies of production", () => {
  const sql = at(databases.production, 5432);
  const amqps = amqp.production;

  it("let in the ingress controller, Prometheus and KEDA, each where it has business", () => {
    expect(
      talks(production, [
        [from("ingress-nginx"), rest],
        [from("keda"), rest],
      ]),
    ).toEqual([true, true]);
    expect(
      talks(production, [
        [from("monitoring"), rest],
        [from("monitoring"), health],
      ]),
    ).toEqual([true, true]);
    const solver = at({ labels: { "acme.cert-manager.io/http01-solver": "true" } }, 8089);
    expect(["ingress-nginx", "keda"].map((each) => mayTalk(production.manifests, from(each), solver))).toEqual([
      true,
      false,
    ]);
    const refused: [Talker, Listener][] = [
      ...["ingress-nginx", "keda"].flatMap((each) =>
        [health, amqps, sql].map((whom): [Talker, Listener] => [from(each), whom]),
      ),
      ...[amqps, sql].map((whom): [Talker, Listener] => [from("monitoring"), whom]),
    ];
    expect(talks(production, refused)).toEqual(all(false, refused.length));
  });

  it("have no way in plain text, to the broker and its metrics", () => {
    const plain: [Talker, Listener][] = [
      [manager, amqp.dev],
      [service, amqp.dev],
      [from("monitoring"), at(broker, 15692)],
      [from("rabbitmq-system"), at(broker, 15672)],
    ];
    expect(talks(production, plain)).toEqual(all(false, plain.length));
    expect(talks(production, [[from("monitoring"), at(broker, 15691)]])).toEqual([true]);
  });

  it("let the nodes of broker and database talk among themselves and with their operators", () => {
    const needed: [Talker, Listener][] = [
      ...[4369, 25672, 35672, 35682].map((port): [Talker, Listener] => [broker, at(broker, port)]),
      ...[5432, 8000].map((port): [Talker, Listener] => [databases.production, at(databases.production, port)]),
      ...[5432, 8000].map((port): [Talker, Listener] => [from("cnpg-system"), at(databases.production, port)]),
      [from("rabbitmq-system"), at(broker, 15671)],
    ];
    expect(talks(production, needed)).toEqual(all(true, needed.length));
    expect(
      talks(production, [
        [manager, at(broker, 25672)],
        [service, at(broker, 15671)],
      ]),
    ).toEqual([false, false]);
  });
});
