import { cpSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isOurs, readJson } from "./manifest.mjs";

/** What a project has once somebody has worked in it. */
const LEFT_BY_A_TRY = /(^|\/)(node_modules|dist|\.unacked|package-lock\.json|[^/]*\.tsbuildinfo)$/;

/**
 * `create-unacked`: its program, and the project that it copies, whose package.json gets the exact versions of all that it
 * names: ours that of the release, the others those that the release was tested with.
 *
 * @param {string} root
 * @param {import("./packages.mjs").PublishedPackage} published
 * @param {string} target the package's folder
 */
export function copyTemplate(root, { of }, target) {
  for (const folder of ["bin", "template"])
    cpSync(join(root, of, folder), join(target, folder), {
      recursive: true,
      filter: (file) => !LEFT_BY_A_TRY.test(file),
    });
  const file = join(target, "template/package.json");
  const project = readJson(file);
  const { version } = readJson(join(root, "package.json"));
  const known = versionsOf(root);
  for (const kind of ["dependencies", "devDependencies"])
    for (const name of Object.keys(project[kind])) {
      const exact = isOurs(name) ? version : known.get(name);
      if (exact === undefined) throw new Error(`${file} names ${name}, of which no workspace has a version.`);
      project[kind][name] = exact;
    }
  writeFileSync(file, `${JSON.stringify(project, null, 2)}\n`);
}

/** Of every foreign package the version that the repository names. @param {string} root */
function versionsOf(root) {
  const services = readdirSync(join(root, "services")).map((name) => `services/${name}`);
  const manifests = [".", ...services].map((folder) => readJson(join(root, folder, "package.json")));
  return new Map(
    manifests.flatMap(({ dependencies = {}, devDependencies = {} }) =>
      Object.entries({ ...dependencies, ...devDependencies }),
    ),
  );
}
