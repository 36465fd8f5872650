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

/** CloudNativePG's own, of which it promises the name and the key. */
const ofPostgresOperator: Manifest = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "postgres-app" },
  stringData: { uri: "postgresql://unacked:secret@postgres-rw.unacked:5432/unacked" },
};

const overlay = (name: string, namespace: string, brought: Manifest[]): Overlay => ({
  ...{ name, namespace, brought },
  manifests: readKustomization(`k8s/overlays/${name}`),
  rendered: renderKustomization(`k8s/overlays/${name}`),
});

export const dev = overlay("dev", "unacked-dev", []);
export const production = overlay("production", "unacked", [...example, ofPostgresOperator]);
if (dev.rendered === undefined) console.warn("there is no kubectl: the kustomizations are checked by their files alone");

export const ofKind = ({ manifests }: Overlay, kind: string): Manifest[] =>
  manifests.filter((manifest) => manifest.kind === kind);

export const workloadsOf = ({ manifests }: Overlay): Workload[] =>
  manifests.filter(({ kind }) => WORKLOAD_KINDS.includes(kind)) as unknown as Workload[];
