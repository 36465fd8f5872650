import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { apiRoutes } from "../../services/observer-manager/src/adapters/http/api/api-routes.ts";
import { openApiDocument } from "../../services/observer-manager/src/adapters/http/openapi/document.ts";
import { sslModeOf } from "../../services/observer-manager/src/adapters/postgres/connection/ssl-mode.ts";
import { roomFor } from "../../services/observer-service/src/keeper/intake/appetite.ts";
import { autoSlotMemoryBytes } from "../../services/observer-service/src/keeper/slots/slot-memory.ts";
import { autoSlotCount } from "../../services/observer-service/src/keeper/slots/supply/slot-settings.ts";
import { DEFAULT_COST_BYTES } from "../../services/observer-service/src/machine/run-cost.ts";
import { autoWorkerCount } from "../../services/observer-service/src/machine/worker-count.ts";
import { ServiceSettings } from "../../services/observer-service/src/settings/settings.ts";
import { environmentOf } from "../support/deploy/dockerfile.ts";
import { ingressPathsOf, isServedBy } from "../support/deploy/ingress.ts";
import { apiFlaws } from "../support/deploy/kubernetes-api.ts";
import { ofKind, production, withIdentityProvider, workloadsOf } from "../support/deploy/overlays.ts";
import {
  configurationOf,
  mountedSecrets,
  ownSettings,
  secretsIn,
  secretsOf,
  type Workload,
} from "../support/deploy/workloads.ts";
import { metricCatalogue } from "../support/monitoring/metric-catalogue.ts";
import { selectorsIn } from "../support/monitoring/promql.ts";
import { ROOT } from "../support/processes/processes.ts";
import { environmentFlaws, PROGRAMS } from "../support/processes/program-settings.ts";

const { manifests, namespace } = production;
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const specOf = (kind: string, name: string): unknown =>
  ofKind(production, kind).find(({ metadata }) => metadata.name === name)?.spec ?? expect.fail(`no ${kind} ${name}`);
const workload = (name: string) =>
  workloadsOf(production).find(({ metadata }) => metadata.name === name) ?? expect.fail(`no ${name}`);

describe("broker and database", () => {
  it("have three nodes each, quorum queues, and no timeout that would cut a job", () => {
    const broker = specOf("RabbitmqCluster", "rabbitmq") as { replicas: number; rabbitmq: { additionalConfig: string } };
    expect(broker.replicas).toBe(3);
    expect((specOf("Cluster", "postgres") as { instances: number }).instances).toBe(3);
    const [timeout = expect.fail("no timeout in deploy/rabbitmq.conf")] =
      /^consumer_timeout = \d+$/m.exec(read("deploy/rabbitmq.conf")) ?? [];
    expect(broker.rabbitmq.additionalConfig.split("\n")).toContain(timeout);
    expect(configurationOf(manifests, "unacked-settings")).toMatchObject({ WORK_QUEUE_TYPE: "quorum", LOG_LEVEL: "info" });
  });

  it("lose one node at a time where nodes of the cluster are drained; that of the database is its operator's", () => {
    const { maxUnavailable, selector } = specOf("PodDisruptionBudget", "rabbitmq") as {
      maxUnavailable: number;
      selector: { matchLabels: object };
    };
    expect(maxUnavailable).toBe(1);
    expect(selector.matchLabels).toEqual({ "app.kubernetes.io/name": "rabbitmq" }); // by the name of its RabbitmqCluster
  });

  it("get users and addresses from Secrets whose making the guide shows", () => {
    interface Broker {
      rabbitmq: { additionalConfig: string };
      override: { statefulSet: { spec: { template: { spec: { containers: Mounting[]; volumes: Mounted[] } } } } };
    }
    const { rabbitmq, override } = specOf("RabbitmqCluster", "rabbitmq") as Broker;
    const { containers, volumes } = override.statefulSet.spec.template.spec;
    expect(rabbitmq.additionalConfig).toContain(
      `load_definitions = ${containers[0]?.volumeMounts[0]?.mountPath}/definitions.json\n`,
    );
    const guide = read("docs/deploy.md");
    for (const name of [volumes[0]?.secret.secretName, "unacked-connections"])
      expect(guide).toContain(`create secret generic ${name}`);
    expect(guide).toContain("--from-file=definitions.json=");
  });
});

describe("the wire to broker and database", () => {
  interface Certificate {
    secretName: string;
    dnsNames?: string[];
    isCA?: boolean;
    issuerRef: { name: string };
  }
  const certificates = ofKind(production, "Certificate").map(({ spec }) => spec as Certificate);
  const mounted = (name: string) => (workload(name).spec.template.spec.volumes ?? []).flatMap(secretsIn);
  const trustOf = (name: string, file: string) => {
    const { secretName, items = [] } =
      mounted(name).find((each) => each.items?.some(({ path }) => file.endsWith(`/${path}`))) ?? expect.fail(file);
    return [secretName, items.map(({ key }) => key)];
  };

  it("is TLS alone at the broker, with a certificate for the names by which it is called", () => {
    const { tls } = specOf("RabbitmqCluster", "rabbitmq") as { tls: Record<string, unknown> };
    expect(tls).toEqual({ secretName: "rabbitmq-tls", caSecretName: "rabbitmq-tls", disableNonTLSListeners: true });
    const certificate =
      certificates.find(({ secretName }) => secretName === tls.secretName) ?? expect.fail("no certificate");
    const names = certificate.dnsNames ?? [];
    const addresses = read("docs/deploy.md").match(/_AMQP_URL=\S+@rabbitmq\S*/g) ?? [];
    expect(addresses).toHaveLength(2);
    for (const address of addresses) {
      expect(address).toMatch(/_AMQP_URL=amqps:\/\/unacked-(manager|service):.*:5671\/$/);
      expect(names).toContain(/@([^:]+):/.exec(address)?.[1]);
    }
    // Its operator calls each node by <pod>.<cluster>-nodes.<namespace>.svc.
    expect(names).toContain(`*.rabbitmq-nodes.${namespace}.svc`);
    expect(names.filter((name) => name.includes(".") && !name.includes(`.${namespace}.`))).toEqual([]);
  });

  it("has an authority of its own, whose certificate the programs are given", () => {
    const [authority = expect.fail("none")] = certificates.filter(({ isCA }) => isCA);
    const issuers = Object.fromEntries(ofKind(production, "Issuer").map(({ metadata, spec }) => [metadata.name, spec]));
    expect(issuers[authority.issuerRef.name]).toEqual({ selfSigned: {} });
    const server = certificates.find(({ isCA }) => !isCA) ?? expect.fail("no certificate");
    expect(issuers[server.issuerRef.name]).toEqual({ ca: { secretName: authority.secretName } });
    for (const name of ["observer-manager", "observer-service"]) {
      const { AMQP_TLS_CA_FILE = "" } = ownSettings(manifests, workload(name));
      expect(trustOf(name, AMQP_TLS_CA_FILE)).toEqual([server.secretName, ["ca.crt"]]);
    }
  });

  it("is TLS alone at the database, whose name and authority the manager holds it against", () => {
    const manager = workload("observer-manager");
    const { DATABASE_TLS_CA_FILE = "" } = ownSettings(manifests, manager);
    expect(trustOf("observer-manager", DATABASE_TLS_CA_FILE)).toEqual(["postgres-ca", ["ca.crt"]]);
    const { uri = "" } = secretsOf(production.brought, "postgres-app");
    expect(sslModeOf(uri, { caFile: DATABASE_TLS_CA_FILE })).toBe("verify-full");
    const { postgresql } = specOf("Cluster", "postgres") as { postgresql: { pg_hba: string[] } };
    expect(postgresql.pg_hba[0]).toBe("hostnossl all all all reject");
  });
});

describe("the ingress", () => {
  const paths = ingressPathsOf(production);
  const { tls, rules } = specOf("Ingress", "unacked") as { tls: { hosts: string[] }[]; rules: { host: string }[] };

  it("speaks TLS for each of its hosts, and leads to a port that the manager's Service has", () => {
    expect(tls.flatMap(({ hosts }) => hosts).sort()).toEqual(rules.map(({ host }) => host).sort());
    const service = specOf("Service", "observer-manager") as { ports: { name: string }[] };
    for (const { backend } of paths) {
      expect(backend.service.name).toBe("observer-manager");
      expect(service.ports.map(({ name }) => name)).toContain(backend.service.port.name);
    }
  });

  it("leads to every call of REST, and keeps metrics and probes inside", () => {
    const document = openApiDocument(apiRoutes({} as never), "0.0.0") as { paths: Record<string, unknown> };
    const calls = Object.keys(document.paths);
    expect(calls.length).toBeGreaterThan(15);
    const inside = ["/metrics", "/readyz", "/healthz"];
    expect(calls.filter((path) => !isServedBy(paths, path)).sort()).toEqual(inside.sort());
  });
});

it("the ingress is told of the longest wait and the largest body, as docs/deploy.md tells nginx", () => {
  const [ingress = expect.fail("no Ingress")] = ofKind(production, "Ingress");
  const { annotations } = ingress.metadata as { annotations?: Record<string, string> };
  const [, longest, body] = /proxy_read_timeout (\d+)s;[^]*client_max_body_size (\w+);/.exec(read("docs/deploy.md")) ?? [];
  expect(Number(longest)).toBeGreaterThan(60);
  expect(annotations).toMatchObject({
    "nginx.ingress.kubernetes.io/proxy-read-timeout": longest,
    "nginx.ingress.kubernetes.io/proxy-body-size": body,
  });
});

describe("the component of an identity provider", () => {
  const manifests = withIdentityProvider();
  const manager = manifests.find(({ kind }) => kind === "Deployment") as unknown as Workload;

  it("is such as the API takes, and gives the manager settings that it has, and addresses of one host", () => {
    expect(apiFlaws(manifests.filter(({ kind }) => ["Deployment", "NetworkPolicy"].includes(kind)))).toEqual([]);
    const given = { ...environmentOf("observer-manager"), ...ownSettings(manifests, manager) };
    const secrets = mountedSecrets([...manifests, ...production.brought], manager);
    expect(environmentFlaws("observer-manager", given, secrets)).toEqual([]);
    const { OIDC_ISSUER = "", OIDC_JWKS_URL = "" } = given;
    expect(OIDC_JWKS_URL.startsWith(`${OIDC_ISSUER}/`)).toBe(true);
  });
});

/** Before its first observer (docs/isolation.md). */
const OF_AN_EMPTY_SLOT = 30 * 2 ** 20;

describe("the autoscaler", () => {
  interface Scaled {
    scaleTargetRef: { kind: string; name: string };
    minReplicaCount: number;
    maxReplicaCount: number;
    fallback: { behavior: string };
    triggers: { metadata: { url: string; valueLocation: string; targetValue: string } }[];
  }
  const scaled = specOf("ScaledObject", "observer-service") as Scaled;
  const { url, valueLocation, targetValue } = scaled.triggers[0]?.metadata ?? expect.fail("no trigger");
  const service = workload("observer-service");
  const { WORKER_COUNT, POOL } = ownSettings(manifests, service);
  const settings = ServiceSettings.parse({ AMQP_URL: "amqp://x", WORKER_COUNT, POOL });
  const workers = Number(settings.WORKER_COUNT);

  it("takes no service away while managers cannot be asked, which KEDA knows from 2.17 on, as is said", () => {
    expect(scaled.fallback.behavior).toBe("currentReplicasIfHigher");
    for (const file of ["k8s/components/autoscaling/kustomization.yaml", "docs/deploy.md"])
      expect(read(file)).toContain("2.17 or later");
  });

  it("scales the StatefulSet, whose number no manifest sets, by the desired workers of its pool", () => {
    expect(scaled.scaleTargetRef).toMatchObject({ kind: service.kind, name: service.metadata.name });
    expect(service.spec.replicas).toBeUndefined();
    const [{ series, labels } = { series: "", labels: [] }] = selectorsIn(valueLocation);
    expect(Object.keys(metricCatalogue().get(series)?.labels ?? {})).toEqual(labels);
    expect(valueLocation).toContain(`pool="${settings.POOL}"`);
  });

  it("asks the manager's Service in the overlay's namespace", () => {
    const { ports } = specOf("Service", "observer-manager") as { ports: { port: number }[] };
    expect(new URL(url).hostname).toBe(`observer-manager.${namespace}.svc.cluster.local`);
    expect(ports.map(({ port }) => port)).toContain(Number(new URL(url).port || 80));
  });

  const [container = expect.fail("no container")] = service.spec.template.spec.containers;
  const { memory } = (container.resources as { limits: { memory: string } }).limits;
  const memoryBytes = Number.parseInt(memory, 10) * (memory.endsWith("Gi") ? 2 ** 30 : 2 ** 20);

  it("counts on no more workers than the memory of a service allows", () => {
    expect(memory).toMatch(/^\d+[MG]i$/);
    expect(workers).toBeLessThanOrEqual(
      autoWorkerCount({ cores: 64, memoryBytes }, autoSlotCount({ cores: 64, memoryBytes })),
    );
  });

  it("counts on no more than fit into the slots of a service, however many cores its node has: a number is not held against memory", () => {
    for (const cores of [1, 2, 4, 16]) {
      const slots = autoSlotCount({ cores, memoryBytes });
      const limitBytes = slots * autoSlotMemoryBytes({ cores, memoryBytes }, slots);
      const inSlots = { usedBytes: slots * OF_AN_EMPTY_SLOT, limitBytes, of: "what its slots share" };
      expect(roomFor({ workers, running: 0, costBytes: DEFAULT_COST_BYTES, memory: [inSlots] }), `${cores}`).toBe(workers);
    }
  });

  /** Kubernetes' rule for a metric's average per pod; within a tenth it does nothing (its tolerance). */
  const settled = (occupied: number, target: number): number => {
    let replicas = scaled.minReplicaCount;
    for (let look = 0; look < 100; look += 1) {
      const usage = (occupied + workers) / (target * replicas);
      if (Math.abs(usage - 1) > 0.1) replicas = Math.ceil((occupied + workers) / target);
      replicas = Math.min(scaled.maxReplicaCount, Math.max(scaled.minReplicaCount, replicas));
    }
    return replicas;
  };
  const isTooFew = (occupied: number, target: number) => occupied > workers * (settled(occupied, target) - 1);
  const most = workers * (scaled.maxReplicaCount - 1) * 0.9;
  const loads = Array.from({ length: Math.floor(most) }, (_, occupied) => occupied);

  it("settles, however many observers there are, at as many services as bear the death of one", () => {
    expect(loads.length).toBeGreaterThan(1_000);
    expect(loads.filter((occupied) => isTooFew(occupied, Number(targetValue)))).toEqual([]);
  });

  it("would not if its target were the number of workers: the tolerance would be taken from the headroom", () => {
    expect(loads.some((occupied) => isTooFew(occupied, workers))).toBe(true);
  });
});

describe("the way from one version to the next", () => {
  const folder = "k8s/overlays/production";

  it("may be walked by one program after the other: each has a tag of its own in the overlay", () => {
    const { images } = parse(read(`${folder}/kustomization.yaml`)) as { images?: { name: string; newTag: string }[] };
    const programs = Object.keys(PROGRAMS).map((name) => workload(name).spec.template.spec.containers[0]?.image);
    expect(images?.map(({ name, newTag }) => `${name}:${newTag}`)).toEqual(programs);
  });

  it("has managers first: the guide waits for them between the two times that it applies", () => {
    const commands = [...read("docs/upgrade.md").matchAll(/^ {4}kubectl (.*)$/gm)].map(([, command = ""]) => command);
    const statusOf = (kind: string, name: string) => `-n ${namespace} rollout status ${kind}/${name}`;
    expect(commands).toEqual([
      `apply -k ${folder}`,
      statusOf("deployment", workload("observer-manager").metadata.name),
      `apply -k ${folder}`,
      statusOf("statefulset", workload("observer-service").metadata.name),
    ]);
  });
});

describe("monitoring", () => {
  interface Monitor {
    jobLabel: string;
    selector: { matchLabels: Record<string, string> };
    podMetricsEndpoints: { port: string; path: string }[];
  }

  it("scrapes the pods of both programs at ports that they have, under the job names that the rules use", () => {
    const jobs = ofKind(production, "PodMonitor").map(({ spec }) => {
      const { jobLabel, selector, podMetricsEndpoints } = spec as Monitor;
      const [endpoint] = podMetricsEndpoints;
      const selected = workloadsOf(production).filter(({ spec: { template } }) =>
        Object.entries(selector.matchLabels).every(([key, value]) => template.metadata.labels?.[key] === value),
      );
      expect(selected).toHaveLength(1);
      const { metadata, spec: pod } = selected[0]?.spec.template ?? expect.fail("no pods");
      expect(pod.containers[0]?.ports?.map(({ name }) => name)).toContain(endpoint?.port);
      return metadata.labels?.[jobLabel];
    });
    const { scrape_configs: configured } = parse(read("deploy/monitoring/prometheus.yml")) as {
      scrape_configs: { job_name: string }[];
    };
    expect(jobs.sort()).toEqual(configured.map(({ job_name: job }) => job).sort());
  });

  it("has the rules and the dashboard of deploy/monitoring", () => {
    expect((specOf("PrometheusRule", "unacked") as { groups: unknown }).groups).toEqual(
      (parse(read("deploy/monitoring/alerts.yml")) as { groups: unknown }).groups,
    );
    const dashboard = configurationOf(manifests, "unacked-dashboard")["unacked.json"] ?? "";
    expect(dashboard).toBe(read("deploy/monitoring/grafana/dashboards/unacked.json"));
  });
});

interface Mounting {
  volumeMounts: { mountPath: string }[];
}

interface Mounted {
  secret: { secretName: string };
}
