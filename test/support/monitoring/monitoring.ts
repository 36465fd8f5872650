import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT } from "../processes/processes.ts";

export interface AlertRule {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook: string };
}

export interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string; refId: string; datasource: { uid: string } }[];
}

export const ALERTS_FILE = "deploy/monitoring/alerts.yml";
export const DASHBOARD_FILE = "deploy/monitoring/grafana/dashboards/unacked.json";

export function readAlerts(): AlertRule[] {
  const { groups } = parse(readFileSync(join(ROOT, ALERTS_FILE), "utf8")) as { groups: { rules: AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

export function readPanels(): Panel[] {
  return (JSON.parse(readFileSync(join(ROOT, DASHBOARD_FILE), "utf8")) as { panels: Panel[] }).panels;
}

/** Of dashboard and alerts, with where each stands; Grafana's variables are filled in: as it does where no target has a namespace. */
export function readQueries(): { where: string; expr: string }[] {
  const ofPanels = readPanels().flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      where: `panel "${title}"`,
      expr: expr.replaceAll("$__rate_interval", "1m").replaceAll("$namespace", ""),
    })),
  );
  return [...ofPanels, ...readAlerts().map(({ alert, expr }) => ({ where: alert, expr }))];
}
