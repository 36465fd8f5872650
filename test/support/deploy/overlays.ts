import { type Manifest, readManifests, renderKustomization, withoutHashes, withReadableSecrets } from "./kustomization.ts";
import { WORKLOAD_KINDS, type Workload } from "./workloads.ts";

export interface Overlay {
  name: string;
  namespace: string;
  /** Names bear no hashes, and Secrets are to be read. */
  manifests: Manifest[];
  /** As kubectl makes them. */
  rendered: Manifest[];
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

const readable = (rendered: Manifest[]) => withReadableSecrets(withoutHashes(rendered));

function overlay(name: string, namespace: string, brought: Manifest[]): Overlay {
  const rendered = renderKustomization(`k8s/overlays/${name}`);
  return { name, namespace, brought, rendered, manifests: readable(rendered) };
}

export const base = readable(renderKustomization("k8s/base"));

export const dev = overlay("dev", "unacked-dev", []);
export const production = overlay("production", "unacked", [...example, ...ofPostgresOperator, ofCertManager]);
/** The production overlay of those who sign in by an identity provider. */
export const withIdentityProvider = (): Manifest[] =>
  readable(renderKustomization("k8s/overlays/production", "k8s/components/identity-provider"));

/** The production overlay of those who have managers below the path /unacked, as docs/deploy.md has it. */
export const belowPath = (): Manifest[] =>
  readable(renderKustomization("k8s/overlays/production", "test/fixtures/deploy/below-a-path"));

export const ofKind = ({ manifests }: Overlay, kind: string): Manifest[] =>
  manifests.filter((manifest) => manifest.kind === kind);

export const workloadsOf = ({ manifests }: Overlay): Workload[] =>
  manifests.filter(({ kind }) => WORKLOAD_KINDS.includes(kind)) as unknown as Workload[];
