import { type Overlay, ofKind } from "./overlays.ts";

export interface IngressPath {
  path: string;
  pathType: "Exact" | "Prefix";
  backend: { service: { name: string; port: { name: string } } };
}

export function ingressPathsOf(overlay: Overlay): IngressPath[] {
  const specs = ofKind(overlay, "Ingress").map(({ spec }) => spec as { rules: { http: { paths: IngressPath[] } }[] });
  return specs.flatMap(({ rules }) => rules.flatMap(({ http }) => http.paths));
}

/** As the Kubernetes API defines it: a prefix fits by whole elements of the path. */
export const isServedBy = (paths: IngressPath[], path: string): boolean =>
  paths.some((each) =>
    each.pathType === "Exact"
      ? path === each.path
      : path === each.path || path.startsWith(`${each.path.replace(/\/$/, "")}/`),
  );
