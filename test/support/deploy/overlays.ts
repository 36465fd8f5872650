import { type Manifest, readKustomization, readManifests, renderKustomization } from "./kustomization.ts";
import { WORKLOAD_KINDS, type Workload } from "./workloads.ts";

export interface Overlay {
  name: string;
  namespace: string;
  /** As the files say; names bear no hashes. */
  manifests: Manifest[];
  /** As kubectl makes them; undefined where there is no kubectl. */
  rendered: Manifest[] | undefined;
  /** Secrets that somebody else brings: a person, or an operator. */
  brought: Manifest[];
}

/** The template of what an overlay brings to the base. */
export const example = readManifests("k8s/base/connections.example.yaml");

const secret = (name: string, stringData: Record<string, string>): Manifest => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  stringData,
});

/** CloudNativePG's own, of which it promises the names and the keys (v1.30.0, pkg/specs/secrets.go and pkg/certs/certs.go). */
const ofPostgresOperator = [
  secret("postgres-app", { uri: "postgresql://unacked:secret@postgres-rw.unacked:5432/unacked" }),
  secret("postgres-ca", { "ca.crt": "PEM", "ca.key": "PEM" }),
];

/** Of cert-manager, for a Certificate that an authority signs. */
const ofCertManager = secret("rabbitmq-tls", { "tls.crt": "PEM", "tls.key": "PEM", "ca.crt": "PEM" });

const overlay = (name: string, namespace: string, brought: Manifest[]): Overlay => ({
  name,
  namespace,
  brought,
  manifests: readKustomization(`k8s/overlays/${name}`),
  rendered: renderKustomization(`k8s/overlays/${name}`),
});

export const dev = overlay("dev", "unacked-dev", []);
export const production = overlay("production", "unacked", [...example, ...ofPostgresOperator, ofCertManager]);
if (dev.rendered === undefined) console.warn("there is no kubectl: the kustomizations are checked by their files alone");

export const ofKind = ({ manifests }: Overlay, kind: string): Manifest[] =>
  manifests.filter((manifest) => manifest.kind === kind);

export const workloadsOf = ({ manifests }: Overlay): Workload[] =>
  manifests.filter(({ kind }) => WORKLOAD_KINDS.includes(kind)) as unknown as Workload[];
