import { z } from "zod";
import type { TlsFiles } from "../client/tls-fetch.ts";
import { usageFailure } from "../failure.ts";

/** The address of a manager, and what it asks for. */
const Context = z.strictObject({
  url: z.string(),
  token: z.string().optional(),
  certificateAuthority: z.string().optional(),
  clientCertificate: z.string().optional(),
  clientKey: z.string().optional(),
});
export type Context = z.infer<typeof Context>;

export const ContextFile = z.strictObject({
  current: z.string().optional(),
  contexts: z.record(z.string().regex(/^[\w.@:-]+$/, "a context's name is of A-Z a-z 0-9 . _ @ : -"), Context).default({}),
});
export type ContextFile = z.infer<typeof ContextFile>;

export const DEFAULT_URL = "http://127.0.0.1:8080";

export interface ChosenAddress {
  url: string;
  token?: string | undefined;
  tls?: TlsFiles;
  /** Where the address came from, for `config view`. */
  from: string;
}

interface Given {
  /** These come from `--url`, `--token` and `--context`. */
  url?: string | undefined;
  token?: string | undefined;
  context?: string | undefined;
  tls?: TlsFiles;
  env: NodeJS.ProcessEnv;
}

/**
 * The command line wins, then `UNACKED_URL` and `UNACKED_TOKEN`, then the current context, then the address of `npm start`.
 * A context's token and certificate go only to that context's address. If `UNACKED_URL` is set, `UNACKED_TOKEN` goes only to
 * that address.
 */
export function chooseAddress(file: ContextFile, { url, token, context, tls = {}, env }: Given): ChosenAddress {
  const tlsOfEnv = tlsFilesOf({
    certificateAuthority: env.UNACKED_CERTIFICATE_AUTHORITY,
    clientCertificate: env.UNACKED_CLIENT_CERTIFICATE,
    clientKey: env.UNACKED_CLIENT_KEY,
  });
  const given = { ...tlsOfEnv, ...tls };
  const tokenOfEnv = isSet(env.UNACKED_TOKEN) ? env.UNACKED_TOKEN : undefined;
  const tokenOfEnvFor = (address: string): string | undefined =>
    tokenOfEnv === undefined || !isSet(env.UNACKED_URL) || toBaseUrl(env.UNACKED_URL) === address ? tokenOfEnv : undefined;
  if (url !== undefined) {
    const address = toBaseUrl(url);
    return { url: address, token: token ?? tokenOfEnvFor(address), tls: given, from: "--url" };
  }
  if (context !== undefined) {
    const named = contextOf(file, context);
    const files = { ...tlsFilesOf(named), ...tls };
    const address = toBaseUrl(named.url);
    const tokenOfIt = token ?? named.token ?? tokenOfEnvFor(address);
    return { url: address, token: tokenOfIt, tls: files, from: `context ${context}` };
  }
  if (isSet(env.UNACKED_URL))
    return { url: toBaseUrl(env.UNACKED_URL), token: token ?? tokenOfEnv, tls: given, from: "UNACKED_URL" };
  if (file.current !== undefined) {
    const current = contextOf(file, file.current);
    const files = { ...tlsFilesOf(current), ...given };
    const from = `context ${file.current}`;
    return { url: toBaseUrl(current.url), token: token ?? tokenOfEnv ?? current.token, tls: files, from };
  }
  return { url: DEFAULT_URL, token: token ?? tokenOfEnv, tls: given, from: "the default" };
}

/** Leaves out the files that are not given. */
export function tlsFilesOf({ certificateAuthority, clientCertificate, clientKey }: TlsFiles): TlsFiles {
  const files = Object.entries({ certificateAuthority, clientCertificate, clientKey });
  return Object.fromEntries(files.filter(([, file]) => isSet(file)));
}

const isSet = (value: string | undefined): value is string => value !== undefined && value !== "";

export function contextOf(file: ContextFile, name: string): Context {
  const context = Object.hasOwn(file.contexts, name) ? file.contexts[name] : undefined;
  if (context !== undefined) return context;
  const known = Object.keys(file.contexts);
  throw usageFailure(
    `There is no context "${name}"`,
    known.length === 0 ? "Make one: unacked config set-context NAME --url http://…" : `There are ${known.join(", ")}.`,
  );
}

/** `localhost:8080` is `http://localhost:8080`; no slash at the end. A password in it is a mistake for `--token`. */
export function toBaseUrl(text: string): string {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  const isWrong = url === undefined || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "";
  if (isWrong) throw usageFailure(`"${text}" is not an address`, `Write it like ${DEFAULT_URL}.`);
  if (url.username !== "" || url.password !== "") throw usageFailure("An address may not hold a password", "Use a token.");
  return url.href.replace(/\/+$/, "");
}

export const withContext = (file: ContextFile, name: string, change: Partial<Context>): ContextFile => {
  const before = Object.hasOwn(file.contexts, name) ? file.contexts[name] : undefined;
  const url = change.url ?? before?.url;
  if (url === undefined) throw usageFailure(`The new context "${name}" needs an address`, "Add --url http://…");
  // A token and a certificate belong to the address they were given for.
  const kept = before !== undefined && before.url === url ? before : undefined;
  const token = change.token ?? kept?.token;
  const files = { ...tlsFilesOf(kept ?? {}), ...tlsFilesOf(change) };
  const context: Context = { url, ...(token !== undefined && token !== "" && { token }), ...files };
  return { current: file.current ?? name, contexts: { ...file.contexts, [name]: context } };
};

export function withoutContext(file: ContextFile, name: string): ContextFile {
  contextOf(file, name);
  const contexts = Object.fromEntries(Object.entries(file.contexts).filter(([each]) => each !== name));
  return { ...(file.current !== undefined && file.current !== name && { current: file.current }), contexts };
}
