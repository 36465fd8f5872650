import { z } from "zod";
import { usageFailure } from "../failure.ts";

/** Where a manager is, and what it asks for. */
const Context = z.strictObject({ url: z.string(), token: z.string().optional() });
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
  /** What said so, for `config view`. */
  from: string;
}

interface Given {
  /** `--url`, `--token` and `--context`. */
  url?: string | undefined;
  token?: string | undefined;
  context?: string | undefined;
  env: NodeJS.ProcessEnv;
}

/**
 * What stands on the command line wins, then `UNACKED_URL` and `UNACKED_TOKEN`, then the current context, then the address
 * of `npm start`. A context's token goes to the context's address only, never to one that was given otherwise.
 */
export function chooseAddress(file: ContextFile, { url, token, context, env }: Given): ChosenAddress {
  const tokenOfEnv = isSet(env.UNACKED_TOKEN) ? env.UNACKED_TOKEN : undefined;
  if (url !== undefined) return { url: toBaseUrl(url), token: token ?? tokenOfEnv, from: "--url" };
  if (context !== undefined) {
    const named = contextOf(file, context);
    return { url: toBaseUrl(named.url), token: token ?? named.token, from: `context ${context}` };
  }
  if (isSet(env.UNACKED_URL)) return { url: toBaseUrl(env.UNACKED_URL), token: token ?? tokenOfEnv, from: "UNACKED_URL" };
  if (file.current !== undefined) {
    const current = contextOf(file, file.current);
    return { url: toBaseUrl(current.url), token: token ?? tokenOfEnv ?? current.token, from: `context ${file.current}` };
  }
  return { url: DEFAULT_URL, token: token ?? tokenOfEnv, from: "the default" };
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

/** `localhost:8080` is `http://localhost:8080`; no slash at the end. Whoever writes a password into it means `--token`. */
export function toBaseUrl(text: string): string {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  const isWrong = url === undefined || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "";
  if (isWrong) throw usageFailure(`"${text}" is no address`, `Write it as ${DEFAULT_URL}.`);
  if (url.username !== "" || url.password !== "") throw usageFailure("An address may not hold a password", "Use a token.");
  return url.href.replace(/\/+$/, "");
}

export const withContext = (file: ContextFile, name: string, change: Partial<Context>): ContextFile => {
  const before = Object.hasOwn(file.contexts, name) ? file.contexts[name] : undefined;
  const url = change.url ?? before?.url;
  if (url === undefined) throw usageFailure(`The new context "${name}" needs an address`, "Add --url http://…");
  // A token belongs to the address it was given for.
  const isMoved = before !== undefined && before.url !== url;
  const token = change.token ?? (isMoved ? undefined : before?.token);
  const context: Context = { url, ...(token !== undefined && token !== "" && { token }) };
  return { current: file.current ?? name, contexts: { ...file.contexts, [name]: context } };
};

export function withoutContext(file: ContextFile, name: string): ContextFile {
  contextOf(file, name);
  const contexts = Object.fromEntries(Object.entries(file.contexts).filter(([each]) => each !== name));
  return { ...(file.current !== undefined && file.current !== name && { current: file.current }), contexts };
}
