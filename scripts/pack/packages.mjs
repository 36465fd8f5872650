/**
 * What is published, and of what it is made. `dependencies` are names: their versions are those that the workspace names in
 * its package.json, and of ours the version of all. `contents`: every file of the tarball fits one of these, and each of
 * these is there (`*` is any part of a path).
 *
 * @typedef {object} PublishedPackage
 * @property {string} name on the registry
 * @property {string} of its workspace's folder
 * @property {string} description
 * @property {string[]} keywords
 * @property {"library" | "program" | "template"} kind
 * @property {string[]} dependencies
 * @property {Record<string, string>} [peerDependencies] what the user's own code brings, and the range that will do
 * @property {Record<string, string>} [copied] of a library: private packages that are copied into it, and where to
 * @property {Record<string, string>} [bin]
 * @property {string[]} [bundledByHand] workspaces whose packages are in it without esbuild's knowledge
 * @property {string[]} contents
 */

/** Params are declared by the author's own zod: one copy, whose types are the same. */
const ZOD = { zod: "^4.6.7" };
const WORDS = ["unacked", "rabbitmq", "jobs"];
const PAPERS = ["LICENSE", "README.md", "THIRD_PARTY_LICENSES", "package.json"];

/** @type {PublishedPackage[]} */
export const PACKAGES = [
  {
    name: "@unacked/sdk",
    of: "libs/sdk",
    description: "Define observers (jobs that never end) and tasks for Unacked, and test them without a broker.",
    keywords: [...WORDS, "sdk", "testing"],
    kind: "library",
    dependencies: [],
    peerDependencies: ZOD,
    contents: [...PAPERS, "dist/*.js", "dist/*.d.ts"],
  },
  {
    name: "@unacked/client",
    of: "libs/client",
    description: "The REST API of Unacked, typed: for Node and for browsers.",
    keywords: [...WORDS, "client", "rest"],
    kind: "library",
    dependencies: ["eventsource-parser", "uuid"],
    peerDependencies: ZOD,
    copied: { "@unacked/contracts": "libs/contracts" },
    contents: [...PAPERS, "dist/*.js", "dist/*.d.ts", "dist/contracts/*.js", "dist/contracts/*.d.ts"],
  },
  {
    name: "@unacked/manager",
    of: "services/observer-manager",
    description: "The manager of Unacked: keeps the books of observers and tasks, serves REST and the status page.",
    keywords: [...WORDS, "orchestrator"],
    kind: "program",
    dependencies: ["yaml"],
    bin: { "unacked-manager": "bin/unacked-manager.mjs" },
    bundledByHand: ["services/status-page"],
    contents: [...PAPERS, "bin/unacked-manager.mjs", "bundle/*.js", "page/*"],
  },
  {
    name: "@unacked/service",
    of: "services/observer-service",
    description: "The service of Unacked: runs your observers and tasks.",
    keywords: [...WORDS, "worker"],
    kind: "program",
    dependencies: ["@opentelemetry/api", "@unacked/sdk", "esbuild", "tsx", "yaml", "zod"],
    bin: { "unacked-service": "bin/unacked-service.mjs" },
    contents: [...PAPERS, "bin/unacked-service.mjs", "bundle/*.js"],
  },
  {
    name: "unacked",
    of: "cli",
    description: "Unacked on the command line.",
    keywords: [...WORDS, "cli"],
    kind: "program",
    dependencies: [],
    bin: { unacked: "bin/unacked.mjs" },
    contents: [...PAPERS, "bin/unacked.mjs", "bundle/*.js"],
  },
  {
    name: "create-unacked",
    of: "create",
    description: "npm create unacked: a project with an observer, a task, a schedule, and a test.",
    keywords: [...WORDS, "create", "template"],
    kind: "template",
    dependencies: [],
    bin: { "create-unacked": "bin/create-unacked.mjs" },
    contents: [...PAPERS, "bin/create-unacked.mjs", "template/*"],
  },
];

/** No source of ours, no test, and no map to either. */
const NEVER = /\.(test|spec)\.|(?<!\.d)\.tsx?$|\.map$|tsbuildinfo$/;

/**
 * What does not fit the list: files that nobody expects, and expectations that no file fulfils.
 *
 * @param {string[]} files of the tarball
 * @param {PublishedPackage} published
 */
export function contentFlaws(files, { contents, kind }) {
  const expected = contents.map((line) => ({
    line,
    fits: new RegExp(`^${line.replaceAll(".", "\\.").replaceAll("*", ".*")}$`),
  }));
  return [
    ...files.filter((file) => !expected.some(({ fits }) => fits.test(file))).map((file) => `${file} is not expected in it`),
    ...files.filter((file) => kind !== "template" && NEVER.test(file)).map((file) => `${file} does not belong in it`),
    ...expected.filter(({ fits }) => !files.some((file) => fits.test(file))).map(({ line }) => `${line} is missing`),
  ];
}

/** The tarball's file name, as `npm pack` makes it. @param {string} name @param {string} version */
export const tarballOf = (name, version) => `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
