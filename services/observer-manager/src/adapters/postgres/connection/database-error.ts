/**
 * What a database error means to a caller, and what of it may be said. TypeORM's QueryFailedError carries the parameters,
 * and PostgreSQL's own `detail` and `where` (and `message` for bad data) quote values: none of them may reach a log or an answer.
 */
export interface DatabaseErrorDescription {
  /** True when the same request may succeed later: the server is away, starting, failing over, out of room, or chose a victim. */
  unavailable: boolean;
  /** Told to the caller, if more can be said than `unavailable`. */
  detail?: string;
  /** Written to the log; holds no values. */
  fields: Record<string, string>;
}

const NODE_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ECONNABORTED",
  "ENOENT",
  "ERR_STREAM_DESTROYED",
]);

/**
 * SQLSTATE classes and codes (PostgreSQL, appendix A) that pass by themselves. 08 connection · 53 out of resources ·
 * 57P server shutting down or starting · 57014 statement timeout · 40 deadlock or serialization · 25006 read-only (a replica
 * after a failover) · 25P02 what was asked behind one that failed · 25P03 idle in transaction · 28, 3D000 rejected or not there (yet) · 55P03 lock not available.
 */
const PASSING_STATES = /^(08...|53...|57P..|57014|40...|25006|25P02|25P03|28...|3D000|55P03)$/;

const READ_ONLY = "25006";
const LOCK_NOT_AVAILABLE = "55P03";

/** What can be said beyond "not available now", by SQLSTATE. */
const DETAILS: Readonly<Record<string, string>> = {
  "57014":
    "PostgreSQL answers, but did not finish this in time: it is slow, or somebody holds a lock (GET /api/v1/stats names who: books-blocked)",
  [READ_ONLY]:
    "PostgreSQL answers, but lets nothing be written: default_transaction_read_only is on (as some set it where a disk is full), or it is a standby",
};

/** Codes of Node and OpenSSL for certificates that do not fit: once somebody renews them, nothing else has to be done. */
const TLS_CODE = /^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_|ERR_SSL_|HOSTNAME_MISMATCH|INVALID_CA)/;

/** Messages of pg, pg-pool and TypeORM ("Driver not Connected": not connected yet), which have no codes for these. */
const PASSING_MESSAGES = [
  "Connection terminated",
  "timeout expired",
  "timeout exceeded when trying to connect",
  "Query read timeout",
  "Client has encountered a connection error",
  "Client was closed and is not queryable",
  "Cannot use a pool after calling end on the pool",
  "Driver not Connected",
  "The server does not support SSL connections",
  "There was an error establishing an SSL connection",
];

/** Our own error, and TypeORM's when the connection went away between two queries of one transaction, or before the first. */
const PASSING_NAMES = new Set([
  "NoPrimaryError",
  "QueryRunnerAlreadyReleasedError",
  "QueryRunnerProviderAlreadyReleasedError",
  "TransactionNotStartedError",
  "CannotExecuteNotConnectedError",
]);

/** Describes any error that came out of a database call. Never throws. */
export function describeDatabaseError(error: unknown): DatabaseErrorDescription {
  const cause = driverErrorOf(error);
  const name = textOf(error, "name") ?? typeof error;
  const sqlState = sqlStateOf(cause);
  const message = textOf(cause, "message") ?? "";
  const fields: Record<string, string> = { error: name };
  const code = sqlState ?? textOf(cause, "code");
  if (code !== undefined) fields["code"] = code;
  for (const key of ["constraint", "table", "column", "routine"]) {
    const text = textOf(cause, key);
    if (text !== undefined) fields[key] = text;
  }
  if (sqlState !== undefined) {
    // Class 22 and 23 messages quote the offending value.
    if (!/^2[23]/.test(sqlState)) fields["message"] = message;
    const detail = DETAILS[sqlState];
    return { unavailable: PASSING_STATES.test(sqlState), fields, ...(detail !== undefined && { detail }) };
  }
  const unavailable = isPassingWithoutState(name, code, message);
  if (unavailable) fields["message"] = message;
  else if (cause === error) fields["stack"] = textOf(error, "stack") ?? ""; // no database's, so our own fault
  return { unavailable, fields };
}

/** SQLSTATEs of a table, a column or a function that is not there. */
const NOT_MADE_YET = /^42(P01|703|883)$/;

/** The same for a manager that has not opened its books yet: what they lack is about to be made. */
export function describeBeforeBooks(error: unknown): DatabaseErrorDescription {
  const described = describeDatabaseError(error);
  if (!NOT_MADE_YET.test(sqlStateOf(error) ?? "")) return described;
  return { ...described, unavailable: true, detail: "This manager is migrating the tables, and is ready after that" };
}

/** The SQLSTATE of an error that PostgreSQL itself answered with. */
export function sqlStateOf(error: unknown): string | undefined {
  const cause = driverErrorOf(error);
  const code = textOf(cause, "code");
  // Node's own codes (EPIPE …) can have five characters too, but no severity.
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && textOf(cause, "severity") !== undefined ? code : undefined;
}

/** The session may write nothing. */
export const isReadOnly = (error: unknown): boolean => sqlStateOf(error) === READ_ONLY;

/** Somebody holds a lock, and it was waited for as long as is allowed. */
export const isLocked = (error: unknown): boolean => sqlStateOf(error) === LOCK_NOT_AVAILABLE;

function isPassingWithoutState(name: string, code: string | undefined, message: string): boolean {
  if (code !== undefined && (NODE_CODES.has(code) || TLS_CODE.test(code))) return true;
  return PASSING_NAMES.has(name) || PASSING_MESSAGES.some((start) => message.startsWith(start));
}

function driverErrorOf(error: unknown): unknown {
  const inner = typeof error === "object" && error !== null ? (error as { driverError?: unknown }).driverError : undefined;
  return inner ?? error;
}

function textOf(error: unknown, key: string): string | undefined {
  const value = typeof error === "object" && error !== null ? (error as Record<string, unknown>)[key] : undefined;
  return typeof value === "string" ? value : undefined;
}
