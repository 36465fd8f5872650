import { existsSync } from "node:fs";
import type { ResolveHook } from "node:module";

/**
 * A hook of Node's module loader, on its own thread. An observer file may lie in a folder that is no package and has no
 * node_modules (a mounted one, for example): what it cannot find of the packages that every observer imports, it gets from
 * the service; and its TypeScript is an ES module, whether or not a package.json beside it says so.
 *
 * Of a bundle it gets one file for all that an import loads (scripts/bundles): zod is a hundred, and to ask this thread for each
 * took half of what a slot's start costs.
 */
const OFFERED = /^(@unacked\/sdk|zod)(\/|$)/;

export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  const found = await resolveWithOffer(specifier, context, nextResolve);
  const isOwnTypeScript = /^[^?#]+\.ts([?#]|$)/.test(found.url) && !found.url.includes("/node_modules/");
  return isOwnTypeScript ? { ...found, format: "module" } : found;
};

const resolveWithOffer: ResolveHook = async (specifier, context, nextResolve) => {
  try {
    return await nextResolve(specifier, context);
  } catch (error) {
    const isMissing = (error as { code?: unknown } | undefined)?.code === "ERR_MODULE_NOT_FOUND";
    if (!isMissing || !OFFERED.test(specifier)) throw error;
    const whole = new URL(`./offered/${specifier}.js`, import.meta.url);
    if (existsSync(whole)) return { url: whole.href, format: "module", shortCircuit: true };
    return nextResolve(specifier, { ...context, parentURL: import.meta.url });
  }
};
