import { createHash } from "node:crypto";
import { join } from "node:path";
import { runTool } from "../setup/run-tool.mjs";
import { issueCertificate } from "./certificates.mjs";

/**
 * What operators make in a cluster, made by hand: of RabbitmqCluster one node in a plain pod, with the configuration that the
 * manifest asks for; of CloudNativePG's Cluster one server, by TLS alone; cert-manager's certificate; and the Secrets of docs/deploy.md.
 */

const PASSWORDS = { MANAGER_PASSWORD: "trial-manager", SERVICE_PASSWORD: "trial-service" };
const DATABASE_PASSWORD = "trial-database";
export const TOKEN = "trial-token";

/** As both operators confine theirs. */
const SECURITY = {
  securityContext: { runAsNonRoot: true, runAsUser: 999, runAsGroup: 999, fsGroup: 999 },
  terminationGracePeriodSeconds: 60,
};
const CONFINED = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };

/**
 * @param {string} root
 * @param {ReturnType<typeof import("./manifests.mjs").readOverlay>} overlay
 * @returns {Promise<{ secrets: import("./pod-files.mjs").Files, configMaps: import("./pod-files.mjs").Files,
 *                     pods: import("./pod.mjs").PodWish[] }>}
 */
export async function byHand(root, overlay) {
  const [broker] = overlay.ofKind("RabbitmqCluster");
  const [database] = overlay.ofKind("Cluster");
  const certificate = overlay.ofKind("Certificate").find(({ metadata }) => metadata.name === "rabbitmq-tls");
  const env = { ...process.env, ...PASSWORDS };
  const definitions = await runTool("sh", [join(root, "deploy/rabbitmq-definitions.sh")], { env });
  const ofPostgres = await issueCertificate(["postgres-rw.unacked", "postgres-rw"]);
  const sha256 = createHash("sha256").update(TOKEN).digest("hex");
  return {
    secrets: {
      "rabbitmq-definitions": { "definitions.json": definitions },
      "rabbitmq-tls": await issueCertificate(certificate.spec.dnsNames),
      "unacked-connections": {
        MANAGER_AMQP_URL: `amqps://unacked-manager:${PASSWORDS.MANAGER_PASSWORD}@rabbitmq:5671/`,
        SERVICE_AMQP_URL: `amqps://unacked-service:${PASSWORDS.SERVICE_PASSWORD}@rabbitmq:5671/`,
        AUTH_TOKENS: `me admin sha256:${sha256}`,
      },
      "postgres-app": { uri: `postgresql://unacked:${DATABASE_PASSWORD}@postgres-rw.unacked:5432/unacked` },
      "postgres-ca": { "ca.crt": ofPostgres["ca.crt"] },
      "postgres-tls": ofPostgres,
    },
    configMaps: {
      "rabbitmq-operator": { "90-operator.conf": brokerConf(broker.spec) },
      "postgres-operator": { "begin.sh": beginDatabase(database.spec) },
    },
    pods: [brokerPod(broker.spec), databasePod(database.spec)],
  };
}

/** @param {any} spec of the RabbitmqCluster; the rest is what its operator adds for `tls` */
const brokerConf = (spec) => `${spec.rabbitmq.additionalConfig}
listeners.tcp = none
listeners.ssl.default = 5671
ssl_options.certfile = /etc/rabbitmq-tls/tls.crt
ssl_options.keyfile = /etc/rabbitmq-tls/tls.key
ssl_options.cacertfile = /etc/rabbitmq-tls/ca.crt
ssl_options.verify = verify_none
total_memory_available_override_value = ${bytesForBroker(spec.resources.limits.memory)}
`;

const GIB = 2 ** 30;

/** The operator tells the broker of a fifth less than the limit, at most of 2 GiB less: a node that reaches it is killed. @param {string} limit */
function bytesForBroker(limit) {
  const bytes = Number.parseInt(limit, 10) * (limit.endsWith("Gi") ? GIB : GIB / 1_024);
  return bytes - Math.min(Math.floor(bytes / 5), 2 * GIB);
}

/** @param {any} spec */
function brokerPod(spec) {
  const { template } = spec.override.statefulSet.spec;
  const [overridden] = template.spec.containers;
  const check = { exec: { command: ["rabbitmq-diagnostics", "-q", "check_port_connectivity"] } };
  return {
    name: "rabbitmq-server-0",
    aliases: ["rabbitmq"],
    claims: ["data"],
    spec: {
      ...SECURITY,
      volumes: [
        ...template.spec.volumes,
        { name: "conf", configMap: { name: "rabbitmq-operator" } },
        { name: "tls", secret: { secretName: spec.tls.secretName, defaultMode: 0o400 } },
      ],
      containers: [
        {
          name: "rabbitmq",
          image: `docker.io/library/${spec.image}`,
          readinessProbe: check,
          livenessProbe: check,
          resources: spec.resources,
          securityContext: CONFINED,
          volumeMounts: [
            ...overridden.volumeMounts,
            {
              name: "conf",
              mountPath: "/etc/rabbitmq/conf.d/90-operator.conf",
              subPath: "90-operator.conf",
              readOnly: true,
            },
            { name: "tls", mountPath: "/etc/rabbitmq-tls", readOnly: true },
            { name: "data", mountPath: "/var/lib/rabbitmq/mnesia" },
          ],
        },
      ],
    },
  };
}

/** The image's own beginning, then the lines of `pg_hba`, of which the first that fits counts. @param {any} spec */
const beginDatabase = (spec) => `set -eu
if command -v docker-ensure-initdb.sh; then docker-ensure-initdb.sh; else docker-entrypoint.sh true; fi
cp /etc/postgres-tls/tls.key /tmp/tls.key
chmod 600 /tmp/tls.key
{ printf '%s\\n' ${spec.postgresql.pg_hba.map((/** @type {string} */ line) => `'${line}'`).join(" ")}; cat "$PGDATA/pg_hba.conf"; } > /tmp/pg_hba.conf
exec postgres -c hba_file=/tmp/pg_hba.conf -c ssl=on -c ssl_cert_file=/etc/postgres-tls/tls.crt -c ssl_key_file=/tmp/tls.key
`;

/** @param {any} spec */
function databasePod(spec) {
  const { database, owner } = spec.bootstrap.initdb;
  const check = { exec: { command: ["pg_isready", "-h", "127.0.0.1", "-U", owner, "-d", database] } };
  return {
    name: "postgres-1",
    aliases: ["postgres-rw", "postgres-rw.unacked"],
    claims: ["data"],
    spec: {
      ...SECURITY,
      volumes: [
        { name: "begin", configMap: { name: "postgres-operator" } },
        { name: "tls", secret: { secretName: "postgres-tls", defaultMode: 0o400 } },
      ],
      containers: [
        {
          name: "postgres",
          image: "docker.io/library/postgres:17",
          command: ["sh", "/begin/begin.sh"],
          env: Object.entries({
            POSTGRES_USER: owner,
            POSTGRES_DB: database,
            POSTGRES_PASSWORD: DATABASE_PASSWORD,
            PGDATA: "/var/lib/postgresql/data/pgdata",
          }).map(([name, value]) => ({ name, value })),
          readinessProbe: check,
          livenessProbe: check,
          resources: spec.resources,
          securityContext: CONFINED,
          volumeMounts: [
            { name: "begin", mountPath: "/begin", readOnly: true },
            { name: "tls", mountPath: "/etc/postgres-tls", readOnly: true },
            { name: "data", mountPath: "/var/lib/postgresql/data" },
          ],
        },
      ],
    },
  };
}
