import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ingressPathsOf, isServedBy } from "../support/deploy/ingress.ts";
import { dev, ofKind, production, workloadsOf } from "../support/deploy/overlays.ts";
import { selectorsIn } from "../support/monitoring/promql.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import { ROOT } from "../support/processes/processes.ts";
import { freshSystem, type System } from "../support/system/system.ts";

describe("what the manifests ask of the programs, asked of running ones", () => {
  let system: System;
  const urls: Record<string, string> = {};

  beforeAll(async () => {
    system = await freshSystem();
    // As CloudNativePG writes the address.
    const databaseUrl = system.env.DATABASE_URL?.replace("postgres:", "postgresql:") ?? "";
    await system.startManager({ env: { DATABASE_URL: databaseUrl } });
    urls["observer-manager"] = system.url;
    const service = await system.startService("service-1");
    urls["observer-service"] = String((await service.waitForEvent("listening")).url);
  });
  afterAll(() => system.close());

  it("each probe is answered with 200", async () => {
    const asked: string[] = [];
    for (const { metadata, spec } of [dev, production].flatMap(workloadsOf)) {
      const url = urls[metadata.name];
      const probes = spec.template.spec.containers.flatMap((each) => [each.readinessProbe, each.livenessProbe]);
      for (const path of probes.flatMap((probe) => probe?.httpGet?.path ?? [])) {
        asked.push(path);
        expect((await fetch(`${url}${path}`)).status, `${metadata.name}${path}`).toBe(200);
      }
    }
    expect(asked).toHaveLength(8);
  });

  it("Prometheus finds metrics where it looks for them", async () => {
    for (const { metadata, spec } of ofKind(production, "PodMonitor")) {
      const { podMetricsEndpoints } = spec as { podMetricsEndpoints: { path: string }[] };
      const response = await fetch(`${urls[metadata.name]}${podMetricsEndpoints[0]?.path}`);
      expect([response.status, response.headers.get("content-type")]).toEqual([
        200,
        expect.stringContaining("text/plain; version=0.0.4"),
      ]);
    }
  });

  it("the autoscaler finds the one number that it scales by", async () => {
    const [{ spec } = expect.fail("no ScaledObject")] = ofKind(production, "ScaledObject");
    const { triggers } = spec as { triggers: { metadata: { url: string; valueLocation: string } }[] };
    const { url, valueLocation } = triggers[0]?.metadata ?? expect.fail("no trigger");
    expect(new URL(url).pathname).toBe("/metrics");
    const { samples } = await scrape(system.url);
    const [{ series } = { series: "" }] = selectorsIn(valueLocation);
    const found = samples.filter(({ name, labels }) => name === series && valueLocation.includes(`pool="${labels.pool}"`));
    expect(found).toHaveLength(1);
    expect(found[0]?.value).toBe(10);
  });

  it("the ingress leads to the page, all of its files, and REST", async () => {
    const paths = ingressPathsOf(production);
    const dist = join(ROOT, "services/status-page/dist");
    const files = readdirSync(dist, { recursive: true, encoding: "utf8" })
      .filter((file) => statSync(join(dist, file)).isFile() && !file.endsWith(".html"))
      .map((file) => `/${file.replaceAll("\\", "/")}`)
      .filter((file) => !/\.(gz|br)$/.test(file));
    expect(files.length).toBeGreaterThan(3);
    const source = readFileSync(join(ROOT, "services/observer-manager/src/adapters/http/server/status-page.ts"), "utf8");
    const [, list = ""] = /const PAGES = \[([^\]]*)\]/.exec(source) ?? [];
    const pages = [...list.matchAll(/"([^"]+)"/g)].map(([, page]) => String(page));
    expect(pages.length).toBeGreaterThan(3);
    for (const path of [
      ...pages.map((page) => page.replace(":ref", "some-name")),
      ...files,
      "/api/docs",
      "/api/v1/stats",
      "/api/openapi.json",
    ]) {
      expect(isServedBy(paths, path), path).toBe(true);
      expect((await fetch(`${system.url}${path}`)).status, path).toBe(200);
    }
  });
});
