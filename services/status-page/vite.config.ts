import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

/** What a browser loads before the first page stands. */
const FIRST_LOAD_LIMIT_BYTES = 200_000;

export default defineConfig({
  plugins: [compressed(), firstLoad()],
  // All is named relative to where it lies; in a document the manager puts its base path for the dot.
  base: "./",
  logLevel: "warn",
  build: {
    // Mantine's files begin with a word for React's server components, which nobody needs here.
    rolldownOptions: {
      // The page, and the documentation of the API: the two share nothing but their looks.
      input: { page: "index.html", "api-docs": "api-docs.html" },
      onLog: (level, log, tell) => void (log.code !== "MODULE_LEVEL_DIRECTIVE" && tell(level, log)),
      checks: { pluginTimings: false },
    },
    target: "es2022",
    // Everything as a file of its own: the Content-Security-Policy lets in no data: and no inline script.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2_000, // kB: Swagger UI is one piece; what the page itself may weigh is held below
  },
});

/** Puts a `.gz` beside each script and style, for the manager to send. After all else has been done to them. */
function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    async writeBundle({ dir = "" }, bundle) {
      const files = Object.values(bundle).filter(({ fileName }) => /\.(js|css)$/.test(fileName));
      await Promise.all(files.map((file) => writeFile(join(dir, `${file.fileName}.gz`), gzipped(file))));
    },
  };
}

/** Prints what the first load weighs (the entry, what it imports, and the heaviest page), and fails the build above the limit. */
function firstLoad(): Plugin {
  return {
    name: "first-load",
    apply: "build",
    writeBundle(_options, bundle) {
      const weigh = (files: Iterable<string>) => [...files].reduce((sum, file) => sum + gzipBytes(bundle[file]), 0);
      const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
      const entry = chunks.find((chunk) => chunk.isEntry && chunk.name === "page");
      if (entry === undefined) throw new Error("the bundle has no entry");
      const shell = filesOf(entry.fileName, bundle);
      const pages = entry.dynamicImports.map((page) => {
        const own = filesOf(page, bundle).filter((file) => !shell.includes(file));
        return { name: bundle[page]?.type === "chunk" ? bundle[page].name : page, bytes: weigh(own) };
      });
      const heaviest = Math.max(...pages.map(({ bytes }) => bytes));
      const shellBytes = weigh(shell);
      const shown = pages.map(({ name, bytes }) => `${name} ${inKb(bytes)}`).join(", ");
      console.log(
        `status page, gzip: shell ${inKb(shellBytes)}; pages: ${shown}; first load at most ${inKb(shellBytes + heaviest)}`,
      );
      if (shellBytes + heaviest > FIRST_LOAD_LIMIT_BYTES)
        throw new Error(`the first load is over ${inKb(FIRST_LOAD_LIMIT_BYTES)}`);
    },
  };
}

type Bundle = Parameters<Extract<NonNullable<Plugin["writeBundle"]>, (...args: never[]) => unknown>>[1];

/** A chunk, its styles, and all that it imports before it runs. */
function filesOf(file: string, bundle: Bundle, found = new Set<string>()): string[] {
  const chunk = bundle[file];
  if (found.has(file) || chunk?.type !== "chunk") return [...found];
  found.add(file);
  for (const style of chunk.viteMetadata?.importedCss ?? []) found.add(style);
  for (const imported of chunk.imports) filesOf(imported, bundle, found);
  return [...found];
}

const gzipped = (file: Bundle[string]): Buffer => gzipSync(file.type === "chunk" ? file.code : file.source, { level: 9 });

const gzipBytes = (file: Bundle[string] | undefined): number => (file === undefined ? 0 : gzipped(file).byteLength);

const inKb = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} kB`;
