import type { ResolveHook } from "node:module";

/**
 * A hook of Node's module loader, on its own thread. An observer file may lie in a folder that has no node_modules (a
 * mounted one, for example): what it cannot find of the packages that every observer imports, it gets from the service.
 */
const OFFERED = /^(@unacked\/sdk|zod)(\/|$)/;

export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  try {
    return await nextResolve(specifier, context);
  } catch (error) {
    const isMissing = (error as { code?: unknown } | undefined)?.code === "ERR_MODULE_NOT_FOUND";
    if (!isMissing || !OFFERED.test(specifier)) throw error;
    return nextResolve(specifier, { ...context, parentURL: import.meta.url });
  }
};
