import { describe, expect, it } from "vitest";
import { readManifests } from "../support/deploy/kustomization.ts";
import type { Workload } from "../support/deploy/workloads.ts";

const containerOf = (file: string, of: string) => {
  const workload = readManifests(file).find(({ kind }) => kind === of) as unknown as Workload;
  const [container = expect.fail("no container")] = workload.spec.template.spec.containers;
  return container;
};
const secondsOf = ({ periodSeconds = 10, failureThreshold = 3 } = {}) => periodSeconds * failureThreshold;

describe.each(["k8s/base/observer-", "create/template/k8s/"])("the probes of %s…", (place) => {
  it("lead to managers that have been ready once also while what they share is away: they say so", () => {
    const { startupProbe, readinessProbe, livenessProbe } = containerOf(`${place}manager.yaml`, "Deployment");
    const paths = [startupProbe, readinessProbe, livenessProbe].map((probe) => probe?.httpGet?.path);
    expect(paths).toEqual(["/readyz", "/healthz", "/healthz"]);
    expect(secondsOf(startupProbe), "seconds that a migration may take").toBe(86_400);
  });

  it("end no service that still loads its folder: files that wait for what is away take it a minute and more", () => {
    const { startupProbe, readinessProbe, livenessProbe } = containerOf(`${place}service.yaml`, "StatefulSet");
    const paths = [startupProbe, readinessProbe, livenessProbe].map((probe) => probe?.httpGet?.path);
    expect(paths).toEqual(["/healthz", "/readyz", "/healthz"]);
    expect(secondsOf(startupProbe)).toBeGreaterThanOrEqual(300);
  });
});
