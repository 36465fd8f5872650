import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { stringify } from "yaml";
import { freePort } from "../../../scripts/servers/free-port.mjs";
import { endServerProcess, startServerProcess, waitUntilReady } from "../../../scripts/servers/server-process.mjs";
import { temporaryFolder } from "../servers/servers.ts";

/** What an instant query answered: as many samples as there are series. */
export type Answered = { labels: Record<string, string>; value: number }[];

export interface Prometheus {
  query(expression: string): Promise<Answered>;
}

/** A Prometheus of the test's own that scrapes these addresses every second, by job. It ends with the test. */
export async function startPrometheus(program: string, jobs: Record<string, string[]>): Promise<Prometheus> {
  const dir = temporaryFolder("prometheus");
  const url = `http://127.0.0.1:${await freePort()}`;
  const config = {
    global: { scrape_interval: "1s", scrape_timeout: "1s" },
    scrape_configs: Object.entries(jobs).map(([job, urls]) => ({
      job_name: job,
      static_configs: [{ targets: urls.map((each) => new URL(each).host) }],
    })),
  };
  writeFileSync(join(dir, "prometheus.yml"), stringify(config));
  const logFile = join(dir, "prometheus.log");
  const server = await startServerProcess({
    program,
    args: [
      `--config.file=${join(dir, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(dir, "data")}`,
      `--web.listen-address=${new URL(url).host}`,
    ],
    cwd: dir,
    logFile,
    pidFile: join(dir, "pid"),
  });
  onTestFinished(() => endServerProcess(server, "SIGTERM", 5_000));
  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await waitUntilReady(server, { name: "Prometheus", isReady, logFiles: [logFile], timeoutMs: 30_000 });
  return { query: (expression) => queryAt(url, expression) };
}

interface QueryAnswer {
  status: string;
  error?: string;
  data?: { result: { metric: Record<string, string>; value: [number, string] }[] };
}

async function queryAt(url: string, expression: string): Promise<Answered> {
  const response = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query: expression }).toString()}`);
  const { status, error, data } = (await response.json()) as QueryAnswer;
  if (status !== "success") throw new Error(`Prometheus refuses ${expression}: ${error}`);
  return (data?.result ?? []).map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
}
