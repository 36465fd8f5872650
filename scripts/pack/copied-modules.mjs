import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

/**
 * A library is published as it was compiled, module by module, so that bundlers leave out what is not used and stacks name
 * its files. The private packages that it needs are copied into it, and named by relative paths then; so are their types.
 *
 * @param {string} root
 * @param {import("./packages.mjs").PublishedPackage} published
 * @param {string} target the package's folder
 */
export function copyModules(root, { of, copied = {} }, target) {
  /** By its name: where in `dist` its modules are. */
  const places = new Map(Object.keys(copied).map((name) => [name, name.slice(name.indexOf("/") + 1)]));
  const sources = [
    { folder: of, below: "" },
    ...Object.entries(copied).map(([name, folder]) => ({ folder, below: places.get(name) ?? "" })),
  ];
  for (const { folder, below } of sources) {
    for (const file of modulesOf(join(root, folder))) {
      const place = posix.join(below, file);
      const text = readFileSync(join(root, folder, "dist", file), "utf8");
      mkdirSync(dirname(join(target, "dist", place)), { recursive: true });
      writeFileSync(join(target, "dist", place), rewritten(text, place, places));
    }
  }
}

/** Modules that have a source, and their types; maps lead to sources that are not there. @param {string} workspace */
const modulesOf = (workspace) =>
  readdirSync(join(workspace, "dist"), { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => /\.js$|\.d\.ts$/.test(file))
    // The compiler leaves what it made of a source that is gone.
    .filter((file) => existsSync(join(workspace, "src", file.replace(/\.js$|\.d\.ts$/, ".ts"))));

/** `from "…"`, `import "…"`, `import("…")`. */
const IMPORTED = /(?<=\b(?:from|import)\s*\(?\s*")[^"\n]+(?=")/g;

/**
 * @param {string} text
 * @param {string} place of its file, below `dist`
 * @param {Map<string, string>} places
 */
function rewritten(text, place, places) {
  return text.replace(/^\/\/# sourceMappingURL=.*\n?/m, "").replace(IMPORTED, (specifier) => {
    const below = places.get(specifier);
    if (below !== undefined) return `./${posix.relative(posix.dirname(place), `${below}/index.js`)}`.replace("./..", "..");
    // The compiler leaves these as they are in declarations.
    return specifier.startsWith(".") ? specifier.replace(/\.ts$/, ".js") : specifier;
  });
}
