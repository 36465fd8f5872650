import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ServiceSettings } from "../../services/observer-service/src/settings/settings.ts";
import { environmentOf, lastOf } from "../support/deploy/dockerfile.ts";
import { ROOT } from "../support/processes/processes.ts";
import { environmentFlaws, PROGRAMS } from "../support/processes/program-settings.ts";

interface ComposeService {
  image: string;
  build?: { context: string; target: string };
  entrypoint?: string[];
  environment: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: string }>;
  stop_grace_period?: string;
  container_name?: string;
  restart: string;
  logging?: { driver: string; options: Record<string, string> };
  profiles?: string[];
}

interface Compose {
  services: Record<string, ComposeService>;
  volumes: Record<string, unknown>;
}

const text = readFileSync(join(ROOT, "docker-compose.yml"), "utf8");
/** With the default of every `${NAME:-default}`, as with nothing set. */
const compose = parse(text.replace(/\$\{\w+:-([^}]*)\}/g, "$1"), { merge: true }) as Compose;
const { services } = compose;
const service = (name: string): ComposeService => services[name] ?? expect.fail(`no service ${name}`);
const programs = Object.keys(PROGRAMS);
/** Whom it answers has 5 s to hear it, each step at broker and database about 2, and so have its last traces. */
const MANAGER_CLOSE_S = 11;

describe("the compose file", () => {
  it("holds a broker, a database and the two programs, and needs nothing set", () => {
    const started = Object.entries(services).filter(([, { profiles }]) => profiles === undefined);
    const names = started.map(([name]) => name).sort();
    expect(names).toEqual(["observer-manager", "observer-service", "postgres", "rabbitmq"]);
    expect(text.match(/\$\{\w+\}/g) ?? []).toEqual([]);
  });

  it("opens ports on loopback alone, that of REST being the manager's", () => {
    const open = Object.values(services).flatMap(({ ports = [] }) => ports);
    expect(open.filter((port) => !port.startsWith("127.0.0.1:"))).toEqual([]);
    expect(service("observer-manager").ports).toEqual([`127.0.0.1:8080:${environmentOf("observer-manager").PORT}`]);
    const withPorts = Object.keys(services).filter((name) => service(name).ports !== undefined);
    expect(withPorts).toEqual(["observer-manager", "prometheus", "grafana"]);
  });

  it("asks nobody who they are while REST is on loopback alone, and everybody once tokens are given", () => {
    expect(service("observer-manager").environment).toMatchObject({ ALLOW_ANONYMOUS: "true", AUTH_TOKENS: "" });
    expect(text).toContain('AUTH_TOKENS: "${AUTH_TOKENS:-}"');
    expect(service("observer-manager").ports?.every((port) => port.startsWith("127.0.0.1:"))).toBe(true);
  });

  it("gives the broker our configuration, under which no job is cut for being unacked", () => {
    expect(service("rabbitmq").volumes).toContain("./deploy/rabbitmq.conf:/etc/rabbitmq/conf.d/20-unacked.conf:ro");
    const settings = readFileSync(join(ROOT, "deploy/rabbitmq.conf"), "utf8").match(/^[^#\n].*$/gm);
    expect(settings).toEqual(["consumer_timeout = 315360000000"]);
  });

  it("gives the broker its users and their rights, with passwords from the environment alone", () => {
    const { entrypoint, volumes = [] } = service("rabbitmq");
    const mounted = new Map(volumes.map((volume) => volume.split(":") as [string, string]).map(([from, to]) => [to, from]));
    for (const file of ["rabbitmq-start.sh", "rabbitmq-definitions.sh", "rabbitmq-definitions.json"])
      expect(mounted.get(`/opt/unacked/${file}`)).toBe(`./deploy/${file}`);
    expect(mounted.get("/etc/rabbitmq/conf.d/30-unacked-users.conf")).toBe("./deploy/rabbitmq-users.conf");
    expect(entrypoint).toEqual(["sh", "/opt/unacked/rabbitmq-start.sh"]);
    expect(service("observer-service").environment.DECLARE_TOPOLOGY).toBe("false");
  });

  it("starts each part when what it needs is healthy, and starts it again when it ends", () => {
    for (const [name, { depends_on: needs = {}, restart }] of Object.entries(services)) {
      expect(restart, name).toBe("unless-stopped");
      for (const [other, { condition }] of Object.entries(needs)) {
        expect(condition, `${name} needs ${other}`).toBe("service_healthy");
        const { healthcheck, build } = service(other);
        expect(healthcheck?.test ?? lastOf(build?.target ?? "", "HEALTHCHECK"), other).toBeDefined();
      }
    }
    expect(Object.keys(service("observer-manager").depends_on ?? {}).sort()).toEqual(["postgres", "rabbitmq"]);
    expect(Object.keys(service("observer-service").depends_on ?? {})).toEqual(["rabbitmq"]);
  });

  it("keeps the log of each container within bounds, in the template of a project, too: Docker sets none", () => {
    const template = parse(readFileSync(join(ROOT, "create/template/docker-compose.yml"), "utf8"), {
      merge: true,
    }) as Compose;
    for (const [name, { logging }] of [...Object.entries(services), ...Object.entries(template.services)])
      expect(logging, name).toEqual({ driver: "json-file", options: { "max-size": "20m", "max-file": "5" } });
  });

  it("names volumes that it declares", () => {
    const named = Object.values(services).flatMap(({ volumes = [] }) => volumes.filter((volume) => !volume.startsWith(".")));
    expect(named.map((volume) => volume.split(":")[0]).sort()).toEqual(Object.keys(compose.volumes).sort());
  });

  it.each(programs)("builds %s from its target and gives it settings that it takes", (program) => {
    const { build, image, environment } = service(program);
    expect(build).toEqual({ context: ".", target: program });
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
    expect(image).toBe(`unacked/${program}:${version}`);
    const env = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, String(value)]));
    expect(environmentFlaws(program, { ...environmentOf(program), ...env })).toEqual([]);
  });

  it("gives the programs addresses of its own servers, with the passwords that these are told", () => {
    const { MANAGER_PASSWORD, SERVICE_PASSWORD } = service("rabbitmq").environment;
    const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = service("postgres").environment;
    for (const [program, user, password] of [
      ["observer-manager", "unacked-manager", MANAGER_PASSWORD],
      ["observer-service", "unacked-service", SERVICE_PASSWORD],
    ] as const)
      expect(service(program).environment.AMQP_URL).toBe(`amqp://${user}:${password}@rabbitmq:5672/`);
    expect(service("observer-manager").environment.DATABASE_URL).toBe(
      `postgres://${POSTGRES_USER}:${POSTGRES_PASSWORD}@postgres:5432/${POSTGRES_DB}`,
    );
  });

  it("passes on to managers what a proxy before them needs, of which nothing is set by itself", () => {
    const proxy = { BASE_PATH: "/unacked", TRUSTED_PROXIES: "172.16.0.0/12", ALLOWED_HOSTS: "example.org" };
    const { environment } = service("observer-manager");
    for (const name of Object.keys(proxy)) {
      expect(text).toContain(`${name}: "\${${name}:-}"`);
      expect(environment[name]).toBe("");
    }
    const env = { ...environmentOf("observer-manager"), ...environment, ...proxy };
    expect(environmentFlaws("observer-manager", env)).toEqual([]);
    // The image's health check asks outside of the path: test/integration/manager-base-path.test.ts runs it.
    expect(service("observer-manager").healthcheck).toBeUndefined();
  });

  it("lets programs outside ask over AMQP once password and setting are given, and nobody before", () => {
    expect(text).toContain("REQUESTER_PASSWORD: ${RABBITMQ_REQUESTER_PASSWORD:-}");
    expect(text).toContain('REQUEST_USERS: "${REQUEST_USERS:-}"');
    const { environment } = service("observer-manager");
    const users = { "unacked-requester": { role: "operator", types: ["*"], pools: ["*"] } };
    for (const REQUEST_USERS of [environment["REQUEST_USERS"] ?? expect.fail("not passed on"), JSON.stringify(users)]) {
      const env = { ...environmentOf("observer-manager"), ...environment, REQUEST_USERS };
      expect(environmentFlaws("observer-manager", env)).toEqual([]);
    }
  });

  it("leaves a manager as much time to end as pods have, more than its close takes, in the template of a project, too", () => {
    const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
    const [seconds] = /(?<=terminationGracePeriodSeconds: )\d+/.exec(read("k8s/base/observer-manager.yaml")) ?? [];
    expect(Number(seconds)).toBeGreaterThanOrEqual(MANAGER_CLOSE_S + 10);
    const project = parse(read("create/template/docker-compose.yml"), { merge: true }) as Compose;
    for (const manager of [service("observer-manager"), project.services["manager"]])
      expect(manager?.stop_grace_period).toBe(`${seconds}s`);
  });

  it("lets observer services be scaled: no name and no port is theirs alone, and time to drain", () => {
    const { container_name: containerName, ports, environment, stop_grace_period: grace } = service("observer-service");
    expect([containerName, ports, environment.SERVICE_NAME]).toEqual([undefined, undefined, undefined]);
    const settings = ServiceSettings.parse(environment);
    expect(Number.parseInt(grace ?? "", 10) * 1_000).toBeGreaterThanOrEqual(settings.STOP_TIMEOUT_MS + 10_000);
  });
});

describe("the profile monitoring", () => {
  const mountsOf = (name: string) =>
    (service(name).volumes ?? []).map((volume) => {
      const [source = "", target = "", mode] = volume.split(":");
      return { source, target, mode };
    });
  const fileOf = (path: string) => readFileSync(join(ROOT, path), "utf8");

  it("is Prometheus and Grafana, with files that are there and that they cannot change", () => {
    const ofProfile = Object.entries(services).filter(([, { profiles }]) => profiles !== undefined);
    expect(ofProfile.map(([name, { profiles }]) => [name, profiles])).toEqual([
      ["prometheus", ["monitoring"]],
      ["grafana", ["monitoring"]],
    ]);
    const files = [...mountsOf("prometheus"), ...mountsOf("grafana")].filter(({ source }) => source.startsWith("."));
    expect(files).toHaveLength(4);
    expect(files.filter(({ source, mode }) => !existsSync(join(ROOT, source)) || mode !== "ro")).toEqual([]);
  });

  it("scrapes both programs at the ports that they listen on, by the job names that rules and dashboard use", () => {
    const { scrape_configs: jobs, rule_files: rules } = parse(fileOf("deploy/monitoring/prometheus.yml")) as {
      scrape_configs: { job_name: string; dns_sd_configs: { names: string[]; port: number }[] }[];
      rule_files: string[];
    };
    expect(jobs.map(({ job_name: job }) => job).sort()).toEqual([...programs].sort());
    for (const { job_name: job, dns_sd_configs: found } of jobs) {
      expect(found).toMatchObject([{ names: [job], port: Number(environmentOf(job).PORT) }]);
    }
    const targets = mountsOf("prometheus").map(({ target }) => target);
    expect(targets).toContain("/etc/prometheus/prometheus.yml");
    for (const file of rules) expect(targets).toContain(`/etc/prometheus/${file}`);
  });

  it("shows the dashboard from the folder that is mounted, by that Prometheus", () => {
    const provisioning = "deploy/monitoring/grafana/provisioning";
    const { datasources } = parse(fileOf(`${provisioning}/datasources/prometheus.yml`)) as {
      datasources: { url: string }[];
    };
    expect(datasources.map(({ url }) => url)).toEqual(["http://prometheus:9090"]);
    const { providers } = parse(fileOf(`${provisioning}/dashboards/unacked.yml`)) as {
      providers: { options: { path: string } }[];
    };
    const mount = mountsOf("grafana").find(({ target }) => target === providers[0]?.options.path);
    expect(existsSync(join(ROOT, mount?.source ?? "", "unacked.json"))).toBe(true);
  });
});
