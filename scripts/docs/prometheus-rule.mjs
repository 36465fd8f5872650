import { readFileSync } from "node:fs";
import { parse, stringify } from "yaml";

/**
 * The alert rules of deploy/monitoring/alerts.yml as the Prometheus operator takes them.
 *
 * @param {string} alertsFile
 */
export function prometheusRule(alertsFile) {
  const { groups } = parse(readFileSync(alertsFile, "utf8"));
  const manifest = {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: { name: "unacked" },
    spec: { groups },
  };
  return `# Made from deploy/monitoring/alerts.yml by \`npm run docs\`; do not edit.\n${stringify(manifest, { lineWidth: 0 })}`;
}
