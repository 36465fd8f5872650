import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { CHAPTERS } from "./sdk-chapters.mjs";
import { sdkEntry, slugOf } from "./sdk-entry.mjs";

/** @typedef {import("./sdk-entry.mjs").Reflection} Reflection */

const FILE = "docs/sdk.md";
const SDK = "libs/sdk";
/** They need a TypeScript with an API, which stands beside them there. */
const TOOLS = "test/generated-client";
/** What their users say better. */
const NOT_EXPORTED = ["ResultOf"];

/**
 * docs/sdk.md. TypeDoc takes seconds, and is asked only where the page must be another: a stamp in it is of its text and of all that it
 * was made from, so that neither can change without the other.
 *
 * @param {string} root of the repository, built @param {string} note @param {boolean} isCheck whether it is enough to know that it is stale
 */
export async function sdkPage(root, note, isCheck) {
  const stamped = (/** @type {string} */ text) => `${note}<!-- ${stampOf(root, text)} -->\n${text}`;
  const known = existsSync(join(root, FILE)) ? readFileSync(join(root, FILE), "utf8") : "";
  const knownText = known.split("\n").slice(2).join("\n");
  if (known === stamped(knownText)) return known;
  return isCheck ? "" : stamped(await textOf(root));
}

/** @param {string} root @param {string} text */
function stampOf(root, text) {
  const hash = createHash("sha256").update(text);
  const sources = readdirSync(join(root, SDK, "src")).toSorted();
  const made = sources.map((file) => `${SDK}/dist/${file.replace(/\.ts$/, ".d.ts")}`);
  const maker = readdirSync(join(root, "scripts/docs"))
    .filter((file) => file.startsWith("sdk-"))
    .toSorted();
  const contentsOf = (/** @type {string} */ file) => readFileSync(join(root, file), "utf8");
  for (const file of [...made, ...maker.map((name) => `scripts/docs/${name}`), "tsconfig.base.json"])
    hash.update(contentsOf(file));
  hash.update(JSON.stringify(JSON.parse(contentsOf(`${TOOLS}/package.json`)).devDependencies));
  return hash.digest("hex").slice(0, 16);
}

/**
 * Every export of `@unacked/sdk`. Throws where one is in no chapter, and where a name or a field has no doc comment.
 *
 * @param {string} root
 */
async function textOf(root) {
  const { exported, context } = await read(root);
  const entryOf = (/** @type {string} */ name) => /** @type {Reflection} */ (exported.get(name));
  const listed = CHAPTERS.flatMap(({ names }) => names);
  const lost = [...exported.keys()].filter((name) => !listed.includes(name));
  const stale = listed.filter((name, place) => !exported.has(name) || listed.indexOf(name) !== place);
  if (lost.length + stale.length > 0)
    throw new Error(`${FILE}: no chapter has ${lost.join(", ") || "–"}; not exported, or twice: ${stale.join(", ") || "–"}`);

  /** @type {string[]} */
  const unsaid = [];
  const chapters = CHAPTERS.map(({ title, about, names }) => {
    const entries = names.map((name) => sdkEntry(entryOf(name), context, (what) => unsaid.push(what)));
    return [`## ${title}`, about, ...entries].join("\n\n");
  });
  if (unsaid.length > 0) throw new Error(`${FILE}: no doc comment says what is ${unsaid.join(", ")}`);
  const link = (/** @type {string} */ name) => `[${name.replaceAll("_", "\\_")}](#${slugOf(entryOf(name))})`;
  return `# The SDK

All that \`@unacked/sdk\` exports, ${listed.length} names. Each stands here once; a type's name leads to it. \`ctx\` is what a handler is given.
What loads and runs types itself, as a service does, has \`@unacked/sdk/host\` besides; its names are told in its own types.

${CHAPTERS.map(({ title, names }) => `- **${title}:** ${names.map(link).join(", ")}`).join("\n")}

${chapters.join("\n\n")}
`;
}

/**
 * By TypeDoc, from what the compiler has made of the SDK. Throws where TypeDoc warns: of a link that leads nowhere, of a type that is not exported.
 *
 * @param {string} root @returns {Promise<{ exported: Map<string, Reflection>, context: import("./sdk-entry.mjs").Context }>}
 */
async function read(root) {
  const { typedoc, markdown } = await tools(root);
  const app = await typedoc.Application.bootstrapWithPlugins({
    entryPoints: [join(root, SDK, "dist/index.d.ts")],
    tsconfig: join(root, "scripts/docs/sdk-tsconfig.json"),
    plugin: [join(root, TOOLS, "node_modules/typedoc-plugin-markdown/dist/index.js")],
    intentionallyNotExported: NOT_EXPORTED,
    ...{ readme: "none", sort: ["source-order"], excludeExternals: true, excludePrivate: true, disableGit: true },
    ...{ disableSources: true, logLevel: "Warn", expandParameters: true, expandObjects: true },
  });
  const project = await app.convert();
  if (project === undefined) throw new Error(`${FILE}: TypeDoc could not read the types`);
  app.validate(project);
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Error(`${FILE}: TypeDoc warns, see above`);
  const exported = new Map(project.children.map((/** @type {Reflection} */ one) => [one.name, one]));
  return { exported, context: contextOf(app, project, markdown) };
}

/** @param {string} root */
async function tools(root) {
  const { resolve } = createRequire(join(root, TOOLS, "package.json"));
  const load = (/** @type {string} */ name) => import(pathToFileURL(resolve(name)).href);
  return { typedoc: await load("typedoc"), markdown: await load("typedoc-plugin-markdown") };
}

/**
 * What writes types and comments, with links into this one page.
 *
 * @param {any} app @param {any} project @param {any} markdown @returns {import("./sdk-entry.mjs").Context}
 */
function contextOf(app, project, { MarkdownThemeContext, MarkdownPageEvent }) {
  const hasUrl = (/** @type {Reflection} */ reflection) => reflection.parent === project;
  const getFullUrl = (/** @type {Reflection} */ reflection) => (hasUrl(reflection) ? slugOf(reflection) : "");
  const theme = { router: { hasUrl, getFullUrl }, owner: {}, application: app };
  const context = new MarkdownThemeContext(theme, new MarkdownPageEvent(project), app.options);
  return Object.assign(context, { urlTo: (/** @type {Reflection} */ reflection) => `#${slugOf(reflection)}` });
}
