import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { parseTokenList } from "../../services/observer-manager/src/domain/token-list.ts";
import { environmentOf } from "../support/dockerfile.ts";
import { apiFlaws } from "../support/kubernetes-api.ts";
import { type Manifest, readKustomization, readManifests, renderKustomization } from "../support/kustomization.ts";
import { environmentFlaws, PROGRAMS } from "../support/program-settings.ts";
import {
  configurationOf,
  mountedSecrets,
  namedThere,
  ownSettings,
  secretsOf,
  WORKLOAD_KINDS,
  type Workload,
} from "../support/workloads.ts";

const base = readKustomization("k8s/base");
const dev = readKustomization("k8s/overlays/dev");
const example = readManifests("k8s/base/connections.example.yaml");
const rendered = renderKustomization("k8s/overlays/dev");
if (rendered === undefined) console.warn("there is no kubectl: the kustomizations are checked by their files alone");

const ofKind = (kind: string): Manifest[] => dev.filter((manifest) => manifest.kind === kind);
const workloads = dev.filter(({ kind }) => WORKLOAD_KINDS.includes(kind)) as unknown as Workload[];
const programs = workloads.filter(({ metadata }) => metadata.name in PROGRAMS);
const cases = (some: Workload[]): [string, Workload][] => some.map((each) => [each.metadata.name, each]);

describe("the check itself", () => {
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" } };
  const container = { name: "c", image: "i" };

  it("takes a manifest that is right, and names unknown fields, wrong values, missing ones and unknown kinds", () => {
    expect(apiFlaws([{ ...pod, spec: { containers: [container] } }])).toEqual([]);
    expect(apiFlaws([{ ...pod, spec: { containers: [{ ...container, imagePullPolice: "Always" }] } }])).toEqual([
      expect.stringContaining("imagePullPolice"),
    ]);
    expect(
      apiFlaws([{ ...pod, spec: { containers: [{ ...container, ports: [{ containerPort: "http" }] }] } }])[0],
    ).toContain("containerPort");
    expect(apiFlaws([{ ...pod, spec: { containers: [{ image: "i" }] } }])[0]).toContain("name");
    expect(apiFlaws([{ ...pod, kind: "Pot" }])[0]).toContain("Pot");
  });
});

describe("the manifests", () => {
  it("are such as the Kubernetes API takes, as they stand and as kubectl renders them", () => {
    expect(apiFlaws([...dev, ...example])).toEqual([]);
    expect(apiFlaws(rendered ?? [])).toEqual([]);
    expect(base.length).toBeGreaterThan(6);
  });

  it.skipIf(rendered === undefined)("are rendered by kubectl to the same set, in the overlay's namespace", () => {
    const names = (manifests: Manifest[]) => manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
    const withoutHash = rendered?.map((each) =>
      ["ConfigMap", "Secret"].includes(each.kind)
        ? { ...each, metadata: { name: each.metadata.name.replace(/-[a-z0-9]{10}$/, "") } }
        : each,
    );
    expect(names(withoutHash ?? [])).toEqual(names(dev));
    const outside = rendered?.filter(({ kind, metadata }) => kind !== "Namespace" && metadata.namespace !== "unacked-dev");
    expect(outside).toEqual([]);
  });

  it("hold both programs, and a template of the one Secret that the base does not bring", () => {
    expect(programs.map(({ metadata }) => metadata.name).sort()).toEqual(Object.keys(PROGRAMS).sort());
    const missing = base
      .filter(({ kind }) => WORKLOAD_KINDS.includes(kind))
      .flatMap((each) => namedThere(each as unknown as Workload).secrets)
      .filter((name) => !base.some(({ kind, metadata }) => kind === "Secret" && metadata.name === name));
    expect(new Set(missing)).toEqual(new Set(example.map(({ metadata }) => metadata.name)));
  });
});

describe.each(cases(workloads))("%s", (name, workload) => {
  const { spec } = workload;
  const { labels = {} } = spec.template.metadata;
  const pod = spec.template.spec;
  const [container = expect.fail("no container")] = pod.containers;

  it("selects its own pods and no others, and so do its Service and its disruption budget", () => {
    const selectorOf = (kind: string) =>
      ofKind(kind)
        .filter(({ metadata }) => metadata.name === name)
        .map(({ spec: of }) => (of as { selector: unknown }).selector);
    const selected = { "app.kubernetes.io/name": name };
    expect(labels).toMatchObject(selected);
    expect(spec.selector.matchLabels).toEqual(selected);
    expect(selectorOf("Service")).toEqual([selected]);
    for (const budget of selectorOf("PodDisruptionBudget")) expect(budget).toEqual({ matchLabels: selected });
    for (const { labelSelector } of pod.topologySpreadConstraints ?? []) expect(labelSelector.matchLabels).toEqual(selected);
    if (workload.kind === "StatefulSet") expect(spec.serviceName).toBe(name);
  });

  it("is reached at ports that it has", () => {
    const ports = (container.ports ?? []).map((port) => port.name);
    const service = ofKind("Service").find(({ metadata }) => metadata.name === name)?.spec as {
      ports: { targetPort: string }[];
    };
    expect(service.ports.map(({ targetPort }) => targetPort)).toEqual(ports);
    const probes = [container.readinessProbe, container.livenessProbe];
    for (const probe of probes) if (probe?.httpGet) expect(ports).toContain(probe.httpGet.port);
    expect(probes.every((probe) => probe?.httpGet ?? probe?.exec)).toBe(true);
  });

  it("names only Secrets, ConfigMaps, keys, volumes and accounts that are there", () => {
    const named = namedThere(workload);
    expect(named.secrets.filter((each) => !ofKind("Secret").some(({ metadata }) => metadata.name === each))).toEqual([]);
    expect(named.configMaps.filter((each) => !ofKind("ConfigMap").some(({ metadata }) => metadata.name === each))).toEqual(
      [],
    );
    expect(named.keys.filter(({ of, key }) => !(key in secretsOf(dev, of) || key in configurationOf(dev, of)))).toEqual([]);
    expect(named.mounts.filter((each) => !named.volumes.includes(each))).toEqual([]);
    if (pod.serviceAccountName !== undefined)
      expect(ofKind("ServiceAccount").map(({ metadata }) => metadata.name)).toContain(pod.serviceAccountName);
  });

  it("runs without root, without more rights than it needs and without a token for the API", () => {
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
    expect(container.securityContext).toMatchObject({ allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } });
    expect(container.resources).toMatchObject({
      requests: { cpu: expect.anything(), memory: expect.anything() },
      limits: { memory: expect.anything() },
    });
  });
});

describe.each(cases(programs))("%s, as a program", (name, workload) => {
  const pod = workload.spec.template.spec;
  const [container = expect.fail("no container")] = pod.containers;
  const given = { ...environmentOf(name), ...ownSettings(dev, workload) };

  it("is given settings that it has, and all that it requires", () => {
    expect(environmentFlaws(name, given, mountedSecrets(dev, workload))).toEqual([]);
    expect(environmentFlaws(name, given, mountedSecrets(example, workload))).toEqual([]);
  });

  it("reads its secrets from files that are mounted", () => {
    const files = Object.entries(given).filter(([setting]) => setting.endsWith("_FILE"));
    const { name: volume, mountPath } =
      container.volumeMounts?.find((each) => each.name === "connections") ?? expect.fail("no mount");
    const items = pod.volumes?.find((each) => each.name === volume)?.secret?.items ?? expect.fail("all of a Secret");
    expect(files.map(([, path]) => path).sort()).toEqual(items.map(({ path }) => `${mountPath}/${path}`).sort());
  });

  it("listens at the port that is asked for /readyz and /healthz, and runs on a read-only disk", () => {
    expect(container.ports).toEqual([expect.objectContaining({ containerPort: Number(given.PORT) })]);
    expect(container.readinessProbe?.httpGet?.path).toBe("/readyz");
    expect(container.livenessProbe?.httpGet?.path).toBe("/healthz");
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true });
    expect(container.image).toMatch(new RegExp(`^unacked/${name}:\\d+\\.\\d+\\.\\d+$`));
    expect(container.command ?? container.args).toBeUndefined();
  });

  it("has a disruption budget that leaves a replica", () => {
    expect(workload.spec.replicas).toBeGreaterThanOrEqual(2);
    expect(ofKind("PodDisruptionBudget").filter(({ metadata }) => metadata.name === name)).toHaveLength(1);
  });
});

it("an observer service bears its pod's name, has time to drain, and is process 1 to nobody's orphans", () => {
  const service =
    programs.find(({ metadata }) => metadata.name === "observer-service") ?? expect.fail("no observer-service");
  const { terminationGracePeriodSeconds = 0, shareProcessNamespace, containers } = service.spec.template.spec;
  const named = containers[0]?.env?.find((each) => each.name === "SERVICE_NAME");
  expect(service.kind).toBe("StatefulSet");
  expect(named?.valueFrom?.fieldRef?.fieldPath).toBe("metadata.name");
  expect(terminationGracePeriodSeconds * 1_000).toBeGreaterThanOrEqual(
    Number(ownSettings(dev, service).STOP_TIMEOUT_MS) + 10_000,
  );
  expect(shareProcessNamespace).toBe(true);
});

it("the overlay's broker has the configuration under which no job is cut for being unacked", () => {
  expect(configurationOf(dev, "rabbitmq-conf")["20-unacked.conf"]).toContain("consumer_timeout = 315360000000");
  const broker = workloads.find(({ metadata }) => metadata.name === "rabbitmq");
  expect(broker?.spec.template.spec.containers[0]?.volumeMounts).toContainEqual(
    expect.objectContaining({ mountPath: "/etc/rabbitmq/conf.d/20-unacked.conf", subPath: "20-unacked.conf" }),
  );
});

it("the overlay's broker has the users and rights of deploy/, with passwords from its Secret alone", () => {
  const broker = workloads.find(({ metadata }) => metadata.name === "rabbitmq") ?? expect.fail("no broker");
  const [container] = broker.spec.template.spec.containers;
  const files = Object.keys(configurationOf(dev, "rabbitmq-users"));
  expect(files.sort()).toEqual(["rabbitmq-definitions.json", "rabbitmq-definitions.sh", "rabbitmq-start.sh"]);
  expect(container?.command).toEqual(["sh", "/opt/unacked/rabbitmq-start.sh"]);
  expect(container?.env?.map(({ name, valueFrom }) => [name, valueFrom?.secretKeyRef?.key])).toEqual([
    ["MANAGER_PASSWORD", "RABBITMQ_MANAGER_PASSWORD"],
    ["SERVICE_PASSWORD", "RABBITMQ_SERVICE_PASSWORD"],
  ]);
  const service = programs.find(({ metadata }) => metadata.name === "observer-service") ?? expect.fail("no service");
  expect(ownSettings(dev, service).DECLARE_TOPOLOGY).toBe("false");
});

it("the overlay lets nobody in without a token, and its one token is the one that it names", () => {
  const { AUTH_TOKENS = "" } = secretsOf(dev, "unacked-connections");
  const sha256 = createHash("sha256").update("unacked-dev").digest("hex");
  expect(parseTokenList(AUTH_TOKENS)).toEqual({ tokens: [{ name: "dev", role: "admin", sha256 }], problems: [] });
  expect(parseTokenList(secretsOf(example, "unacked-connections").AUTH_TOKENS ?? "").problems).toEqual([]);
});

it("the overlay's addresses name its own servers, with the passwords that these are told", () => {
  const { MANAGER_AMQP_URL = "", SERVICE_AMQP_URL = "", DATABASE_URL = "" } = secretsOf(dev, "unacked-connections");
  const passwords = secretsOf(dev, "server-passwords");
  for (const [address, user, password] of [
    [MANAGER_AMQP_URL, "unacked-manager", passwords.RABBITMQ_MANAGER_PASSWORD],
    [SERVICE_AMQP_URL, "unacked-service", passwords.RABBITMQ_SERVICE_PASSWORD],
    [DATABASE_URL, "unacked", passwords.POSTGRES_PASSWORD],
  ] as const) {
    const url = new URL(address);
    expect([url.username, url.password]).toEqual([user, password]);
    const service = ofKind("Service").find(({ metadata }) => metadata.name === url.hostname)?.spec as {
      ports: { port: number }[];
    };
    expect(service.ports.map(({ port }) => String(port))).toEqual([url.port]);
  }
});
