import { describe, expect, it } from "vitest";
import { environmentOf } from "../support/deploy/dockerfile.ts";
import { apiFlaws } from "../support/deploy/kubernetes-api.ts";
import { base, belowPath, dev, example, ofKind, production, workloadsOf } from "../support/deploy/overlays.ts";
import {
  configurationOf,
  mountedSecrets,
  namedThere,
  ownSettings,
  secretsIn,
  secretsOf,
  WORKLOAD_KINDS,
  type Workload,
} from "../support/deploy/workloads.ts";
import { environmentFlaws, PROGRAMS } from "../support/processes/program-settings.ts";

const nameOf = ({ metadata }: { metadata: { name: string } }) => metadata.name;

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

  it("does so with the kinds of operators, too", () => {
    const broker = ofKind(production, "RabbitmqCluster")[0] ?? expect.fail("no broker");
    const spec = broker.spec as Record<string, unknown>;
    expect(apiFlaws([broker])).toEqual([]);
    expect(apiFlaws([{ ...broker, spec: { ...spec, replikas: 3 } }])[0]).toContain("replikas");
    expect(apiFlaws([{ ...broker, spec: { ...spec, replicas: "three" } }])[0]).toContain("replicas");
    expect(apiFlaws([{ ...broker, spec: { ...spec, rabbitmq: {} } }])[0]).toContain("additionalConfig");
  });
});

it("the base wants one Secret, of which there is a template", () => {
  const missing = base
    .filter(({ kind }) => WORKLOAD_KINDS.includes(kind))
    .flatMap((each) => namedThere(each as unknown as Workload).secrets)
    .filter((name) => !base.some((each) => each.kind === "Secret" && nameOf(each) === name));
  expect(new Set(missing)).toEqual(new Set(example.map(nameOf)));
});

describe.each([dev, production])("the overlay $name", (overlay) => {
  const { manifests, rendered, namespace, brought } = overlay;
  const there = [...manifests, ...brought];
  const workloads = workloadsOf(overlay);
  const programs = workloads.filter(({ metadata }) => metadata.name in PROGRAMS);
  const cases = (some: Workload[]): [string, Workload][] => some.map((each) => [nameOf(each), each]);

  it("is such as the Kubernetes API and the operators take", () => {
    expect(apiFlaws([...manifests, ...brought, ...example])).toEqual([]);
    expect(manifests.length).toBeGreaterThan(15);
  });

  it("is such as they take as kubectl renders it, too", () => {
    expect(apiFlaws(rendered)).toEqual([]);
  });

  it("is rendered all in its namespace, and a changed setting begins new pods: the name is another", () => {
    const outside = rendered.filter(({ kind, metadata }) => kind !== "Namespace" && metadata.namespace !== namespace);
    expect(outside).toEqual([]);
    const needed = rendered
      .filter(({ kind }) => WORKLOAD_KINDS.includes(kind))
      .flatMap((each) => namedThere(each as unknown as Workload).configMaps);
    expect(needed.length).toBeGreaterThan(1);
    expect(needed.filter((name) => !/-[a-z0-9]{10}$/.test(name))).toEqual([]);
  });

  it("holds both programs", () => {
    expect(programs.map(nameOf).sort()).toEqual(Object.keys(PROGRAMS).sort());
  });

  describe.each(cases(workloads))("%s", (name, workload) => {
    const { spec } = workload;
    const { labels = {} } = spec.template.metadata;
    const pod = spec.template.spec;
    const [container = expect.fail("no container")] = pod.containers;

    it("selects its own pods and no others, and so do its Service and its disruption budget", () => {
      const selectorOf = (kind: string) =>
        ofKind(overlay, kind)
          .filter(({ metadata }) => metadata.name === name)
          .map(({ spec: of }) => (of as { selector: unknown }).selector);
      const selected = { "app.kubernetes.io/name": name };
      expect(labels).toMatchObject(selected);
      expect(spec.selector.matchLabels).toEqual(selected);
      expect(selectorOf("Service")).toEqual([selected]);
      for (const budget of selectorOf("PodDisruptionBudget")) expect(budget).toEqual({ matchLabels: selected });
      for (const { labelSelector } of pod.topologySpreadConstraints ?? [])
        expect(labelSelector.matchLabels).toEqual(selected);
      if (workload.kind === "StatefulSet") expect(spec.serviceName).toBe(name);
    });

    it("is reached at ports that it has", () => {
      const ports = (container.ports ?? []).map((port) => port.name);
      const service = ofKind(overlay, "Service").find(({ metadata }) => metadata.name === name)?.spec as {
        ports: { targetPort: string }[];
      };
      expect(service.ports.map(({ targetPort }) => targetPort)).toEqual(ports);
      const probes = [container.startupProbe ?? container.readinessProbe, container.readinessProbe, container.livenessProbe];
      for (const probe of probes) if (probe?.httpGet) expect(ports).toContain(probe.httpGet.port);
      expect(probes.every((probe) => probe?.httpGet ?? probe?.exec)).toBe(true);
    });

    it("names only Secrets, ConfigMaps, keys, volumes and accounts that are there", () => {
      const named = namedThere(workload);
      const has = (kind: string) => (each: string) => there.some((one) => one.kind === kind && nameOf(one) === each);
      expect(named.secrets.filter((each) => !has("Secret")(each))).toEqual([]);
      expect(named.configMaps.filter((each) => !has("ConfigMap")(each))).toEqual([]);
      const keysOf = (of: string) => ({ ...secretsOf(there, of), ...configurationOf(there, of) });
      expect(named.keys.filter(({ of, key }) => !(key in keysOf(of)))).toEqual([]);
      expect(named.mounts.filter((each) => !named.volumes.includes(each))).toEqual([]);
      if (pod.serviceAccountName !== undefined) expect(has("ServiceAccount")(pod.serviceAccountName)).toBe(true);
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
    const given = { ...environmentOf(name), ...ownSettings(manifests, workload) };

    it("is given settings that it has, and all that it requires", () => {
      expect(environmentFlaws(name, given, mountedSecrets(there, workload))).toEqual([]);
    });

    it("reads its secrets from files that are mounted", () => {
      const files = Object.entries(given).filter(([setting]) => setting.endsWith("_FILE"));
      const { name: volume, mountPath } =
        container.volumeMounts?.find((each) => each.name === "connections") ?? expect.fail("no mount");
      const mounted = pod.volumes?.find((each) => each.name === volume) ?? expect.fail("no volume");
      const items = secretsIn(mounted).flatMap((each) => each.items ?? expect.fail("all of a Secret"));
      expect(files.map(([, path]) => path).sort()).toEqual(items.map(({ path }) => `${mountPath}/${path}`).sort());
    });

    it("listens at the port that is asked for /readyz and /healthz, and runs on a read-only disk", () => {
      expect(container.ports).toEqual([expect.objectContaining({ containerPort: Number(given.PORT) })]);
      expect([container.startupProbe, container.readinessProbe].map((probe) => probe?.httpGet?.path)).toContain("/readyz");
      expect(container.livenessProbe?.httpGet?.path).toBe("/healthz");
      expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true });
      expect(container.image).toMatch(new RegExp(`^unacked/${name}:\\d+\\.\\d+\\.\\d+(-[\\w.]+)?$`));
      expect(container.command ?? container.args).toBeUndefined();
    });

    it("has a disruption budget that leaves a replica", () => {
      const autoscaled = ofKind(overlay, "ScaledObject").map(({ spec }) => spec as { minReplicaCount: number });
      expect(workload.spec.replicas ?? autoscaled[0]?.minReplicaCount).toBeGreaterThanOrEqual(2);
      expect(ofKind(overlay, "PodDisruptionBudget").filter(({ metadata }) => metadata.name === name)).toHaveLength(1);
    });
  });

  it.each(Object.keys(PROGRAMS))("lets a node be drained on which %s is not ready, and may stay so", (name) => {
    const [budget] = ofKind(overlay, "PodDisruptionBudget").filter(({ metadata }) => metadata.name === name);
    expect(budget?.spec).toMatchObject({ maxUnavailable: 1, unhealthyPodEvictionPolicy: "AlwaysAllow" });
  });

  it("leads to managers that have been ready once also while what they share is away: they say so", () => {
    const manager = programs.find((each) => nameOf(each) === "observer-manager") ?? expect.fail("no observer-manager");
    const { startupProbe, readinessProbe } = manager.spec.template.spec.containers[0] ?? expect.fail("no container");
    expect([startupProbe?.httpGet?.path, readinessProbe?.httpGet?.path]).toEqual(["/readyz", "/healthz"]);
    const { periodSeconds = 10, failureThreshold = 3 } = startupProbe ?? {};
    expect(periodSeconds * failureThreshold, "seconds that a migration may take").toBe(86_400);
  });

  it("gives an observer service its pod's name and time to drain, and makes it process 1 to nobody's orphans", () => {
    const service = programs.find((each) => nameOf(each) === "observer-service") ?? expect.fail("no observer-service");
    const { terminationGracePeriodSeconds = 0, shareProcessNamespace, containers } = service.spec.template.spec;
    const named = containers[0]?.env?.find((each) => each.name === "SERVICE_NAME");
    expect(service.kind).toBe("StatefulSet");
    expect(named?.valueFrom?.fieldRef?.fieldPath).toBe("metadata.name");
    expect(terminationGracePeriodSeconds * 1_000).toBeGreaterThanOrEqual(
      Number(ownSettings(manifests, service).STOP_TIMEOUT_MS) + 10_000,
    );
    expect(shareProcessNamespace).toBe(true);
    expect(ownSettings(manifests, service).DECLARE_TOPOLOGY).toBe("false");
  });
});

describe("below a path", () => {
  const isManager = ({ kind, metadata }: { kind: string; metadata: { name: string } }) =>
    kind === "Deployment" && metadata.name === "observer-manager";

  it("are managers that are told so by manager-settings, and whose probes ask outside of it", () => {
    const manifests = belowPath();
    const manager = manifests.find(isManager) as unknown as Workload;
    const given = { ...environmentOf("observer-manager"), ...ownSettings(manifests, manager) };
    expect(given["BASE_PATH"]).toBe("/unacked");
    const secrets = mountedSecrets([...manifests, ...production.brought], manager);
    expect(environmentFlaws("observer-manager", given, secrets)).toEqual([]);
    const [container = expect.fail("no container")] = manager.spec.template.spec.containers;
    const asked = [container.startupProbe, container.readinessProbe, container.livenessProbe].map(
      (probe) => probe?.httpGet?.path,
    );
    expect(asked).toEqual(["/readyz", "/healthz", "/healthz"]);
  });

  it("is nothing of its own accord", () => {
    const manager = workloadsOf(production).find(isManager) ?? expect.fail("no manager");
    expect(ownSettings(production.manifests, manager)["BASE_PATH"]).toBe("");
  });
});
