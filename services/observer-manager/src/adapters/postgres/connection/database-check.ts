import { setTimeout as sleep } from "node:timers/promises";
import type { ReadinessCheck } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { describeDatabaseError } from "./database-error.ts";

const ANSWER_WITHIN_MS = 2_000;

/** A manager is of no use with a session that may not write. */
const MAY_WRITE = "SELECT current_setting('transaction_read_only') = 'off' AS may";
const WRITES_NOTHING = "answers, but lets nothing be written (transaction_read_only)";

/** For readiness: whether the database answers, and may be written to. Never rejects, never takes longer than 2 s. */
export async function checkDatabase(dataSource: DataSource): Promise<ReadinessCheck> {
  const timer = new AbortController();
  const ask = () => dataSource.query<{ may: boolean }[]>(MAY_WRITE);
  // It is asked twice: a connection that broke while it idled says nothing of the server, a new one does.
  const answer = ask()
    .catch(ask)
    .then(
      ([row]) => (row?.may ? { ok: true, detail: "answers" } : unavailable({ message: WRITES_NOTHING })),
      (error: unknown) => unavailable(describeDatabaseError(error).fields),
    );
  const tooLate = sleep(ANSWER_WITHIN_MS, undefined, { signal: timer.signal }).then(
    () => unavailable({ message: `no answer within ${ANSWER_WITHIN_MS} ms` }),
    () => unavailable({ message: "cancelled" }),
  );
  const check = await Promise.race([answer, tooLate]);
  timer.abort();
  return check;
}

/** @param fields of a described error */
export function unavailable(fields: Record<string, string>): ReadinessCheck {
  return { ok: false, detail: fields["message"] || "the query failed", remedy: databaseRemedy(fields) };
}

/** What an operator should do about a database that cannot be reached, by what Node, pg and PostgreSQL say. The first match counts. */
const REMEDIES: readonly [pattern: RegExp, remedy: string][] = [
  [
    /transaction_read_only/,
    "Set default_transaction_read_only = off again, for the server, the database and the role (if it was set because a disk was full, make room first); or let DATABASE_URL name the primary.",
  ],
  [
    /^55P03/,
    "A migration waits for a table that another session holds (a dump, a transaction left open): let it end, or end it (xact_start in pg_stat_activity shows which). The manager tries again every 5 s.",
  ],
  [
    /pooler by transaction/,
    "Let DATABASE_URL name PostgreSQL itself, or a pooler by session (PgBouncer: pool_mode = session).",
  ],
  [/was never released/, "Let DATABASE_URL name a database that a release has made, or a new one."],
  [
    /is an old primary/,
    "Start the latest primary, or promote its standby; do not go on with the old one. If the cluster is a new one (pg_upgrade, a restored backup), restart the managers.",
  ],
  [
    /none of the \d+ databases is a primary/,
    "Start the primary, or promote a standby (pg_promote()); or check DATABASE_URL. The manager finds it by itself.",
  ],
  [
    /SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT/,
    "The manager does not trust the authority that signed PostgreSQL's certificate: set DATABASE_TLS_CA_FILE to a file with the certificate (PEM) of that authority.",
  ],
  [/CERT_HAS_EXPIRED/, "Renew PostgreSQL's certificate; or correct this machine's clock."],
  [/CERT_NOT_YET_VALID/, "Correct this machine's clock, or PostgreSQL's certificate."],
  [
    /ERR_TLS_CERT_ALTNAME_INVALID/,
    "Use the host name of the certificate in DATABASE_URL, or set DATABASE_TLS_SERVER_NAME to it.",
  ],
  [
    /does not support SSL/,
    "Switch TLS on in PostgreSQL (ssl = on), or, in a network that you trust, remove sslmode and DATABASE_TLS_….",
  ],
  [
    /valid client certificate|certificate required|CERTIFICATE_REQUIRED/i,
    "PostgreSQL asks for a client certificate: set DATABASE_TLS_CERT_FILE and DATABASE_TLS_KEY_FILE, signed by an authority in its ssl_ca_file.",
  ],
  [
    /alert (unknown ca|bad certificate|certificate expired|certificate unknown)|ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_)/i,
    "PostgreSQL refuses the client certificate: it has to be valid, and signed by an authority in its ssl_ca_file.",
  ],
  [
    /no pg_hba.conf entry.*no encryption/,
    "PostgreSQL accepts only encrypted connections: add ?sslmode=verify-full to DATABASE_URL.",
  ],
  [/^28P01/, "Check user and password in DATABASE_URL."],
  [/^28000/, "Check the user in DATABASE_URL, whether that role may log in, and what pg_hba.conf allows it."],
  [/^3D000/, "Create the database that DATABASE_URL names, or correct the name."],
];

export function databaseRemedy({ code = "", message = "" }: Record<string, string>): string {
  const said = `${code} ${message}`;
  const known = REMEDIES.find(([pattern]) => pattern.test(said))?.[1];
  return known ?? "Start PostgreSQL, or check DATABASE_URL; the manager connects again by itself.";
}
