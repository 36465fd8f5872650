import type { Manifest } from "./kustomization.ts";

export const WORKLOAD_KINDS = ["Deployment", "StatefulSet"];

interface Probe {
  httpGet?: { path: string; port: string };
  exec?: { command: string[] };
  periodSeconds?: number;
  failureThreshold?: number;
}

interface Variable {
  name: string;
  value?: string;
  valueFrom?: { fieldRef?: { fieldPath: string }; secretKeyRef?: { name: string; key: string } };
}

interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  env?: Variable[];
  envFrom?: { configMapRef: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  resources?: unknown;
  securityContext?: unknown;
  volumeMounts?: { name: string; mountPath: string; subPath?: string }[];
}

/** A Deployment or StatefulSet, as far as the tests look at it. */
export interface Workload {
  kind: string;
  metadata: { name: string };
  spec: {
    replicas?: number;
    serviceName?: string;
    selector: { matchLabels: Record<string, string> };
    template: {
      metadata: { labels?: Record<string, string> };
      spec: {
        serviceAccountName?: string;
        automountServiceAccountToken?: boolean;
        shareProcessNamespace?: boolean;
        terminationGracePeriodSeconds?: number;
        securityContext?: unknown;
        topologySpreadConstraints?: { labelSelector: { matchLabels: Record<string, string> } }[];
        containers: Container[];
        volumes?: {
          name: string;
          secret?: { secretName: string; items?: { key: string; path: string }[] };
          projected?: { sources: { secret: { name: string; items: { key: string; path: string }[] } }[] };
          configMap?: { name: string };
          emptyDir?: unknown;
        }[];
      };
    };
    volumeClaimTemplates?: { metadata: { name: string } }[];
  };
}

/** Everything that a workload's pods need by name. */
export function namedThere({ spec }: Workload) {
  const { containers, volumes = [] } = spec.template.spec;
  const secretKeys = containers.flatMap(({ env = [] }) => env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []));
  const secretVolumes = volumes.flatMap(secretsIn);
  return {
    secrets: [...secretKeys.map(({ name }) => name), ...secretVolumes.map(({ secretName }) => secretName)],
    configMaps: [
      ...containers.flatMap(({ envFrom = [] }) => envFrom.map(({ configMapRef }) => configMapRef.name)),
      ...volumes.flatMap(({ configMap }) => configMap?.name ?? []),
    ],
    keys: [
      ...secretKeys.map(({ name, key }) => ({ of: name, key })),
      ...secretVolumes.flatMap(({ secretName, items = [] }) => items.map(({ key }) => ({ of: secretName, key }))),
    ],
    mounts: containers.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name)),
    volumes: [...volumes.map(({ name }) => name), ...(spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name)],
  };
}

/** The environment of a workload's container; what is known only in the cluster stands as `example`. */
export function ownSettings(manifests: Manifest[], { spec }: Workload): Record<string, string> {
  const [container] = spec.template.spec.containers;
  const shared = (container?.envFrom ?? []).map(({ configMapRef }) => configurationOf(manifests, configMapRef.name));
  const own = (container?.env ?? []).map(({ name, value = "example" }) => [name, value]);
  return Object.assign({}, ...shared, Object.fromEntries(own)) as Record<string, string>;
}

export function configurationOf(manifests: Manifest[], name: string): Record<string, string> {
  return manifests.find((each) => each.kind === "ConfigMap" && each.metadata.name === name)?.data ?? {};
}

type Volume = NonNullable<Workload["spec"]["template"]["spec"]["volumes"]>[number];

/** The Secrets that are a volume, or a part of one. */
export function secretsIn({ secret, projected }: Volume): NonNullable<Volume["secret"]>[] {
  const parts = projected?.sources.map((source) => ({ secretName: source.secret.name, items: source.secret.items }));
  return [...(secret ? [secret] : []), ...(parts ?? [])];
}

/** What a pod finds in the files of its Secrets, by file name. */
export function mountedSecrets(manifests: Manifest[], { spec }: Workload): Record<string, string> {
  const secrets = (spec.template.spec.volumes ?? []).flatMap(secretsIn);
  const files = secrets.flatMap(({ secretName, items = [] }) => {
    const values = secretsOf(manifests, secretName);
    return items.map(({ key, path }) => [path, values[key] ?? ""]);
  });
  return Object.fromEntries(files) as Record<string, string>;
}

export function secretsOf(manifests: Manifest[], name: string): Record<string, string> {
  const secret = manifests.find((each) => each.kind === "Secret" && each.metadata.name === name);
  return (secret?.["stringData"] ?? {}) as Record<string, string>;
}
