import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { complain, PlainError, say } from "./progress.mjs";
import { carryMessages } from "./version/golden-messages.mjs";
import { disagreements, filesWith, versionOf } from "./version/places.mjs";
import { isGreater, isVersion } from "./version/semver.mjs";

const HELP = `Usage: npm run release:version -- VERSION | --check

Gives all packages, what they ask of each other, the lock, images, manifests and docs one version, and begins its golden
messages with those of the version before. CHANGELOG.md has to have it first: a heading "## [VERSION]", or "To become VERSION."
below "[Unreleased]". Where something is wrong it says what, and changes nothing.

  --check   changes nothing, and fails where a file states another version than package.json
`;

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

function check() {
  const version = versionOf(root);
  const wrong = disagreements(root, version);
  if (!isInChangelog(version)) wrong.push(`CHANGELOG.md has no entry of ${version}`);
  if (wrong.length > 0) throw new PlainError(`package.json says ${version}, but:\n  ${wrong.join("\n  ")}`);
  say(`version: all say ${version}`);
}

/** @param {string} version */
function set(version) {
  const before = versionOf(root);
  if (!isVersion(version))
    throw new PlainError(`"${version}" is no version: MAJOR.MINOR.PATCH, as 1.2.3, or with a -PRERELEASE, as 1.2.3-rc.1.`);
  if (!isGreater(version, before)) throw new PlainError(`${version} does not come after ${before}, which it is now.`);
  if (!isInChangelog(version))
    throw new PlainError(
      `CHANGELOG.md has no entry of ${version}: write "## [${version}]", or "To become ${version}." below "[Unreleased]".`,
    );
  // What already disagrees was forgotten by somebody: it is looked at, and not written over.
  check();
  const files = filesWith(root, version);
  for (const [file, text] of files) writeFileSync(join(root, file), text);
  carryMessages(root, before, version);
  say(`All say ${version} now: ${files.length} files, and test/fixtures/messages/v${version}.`);
}

/** @param {string} version */
function isInChangelog(version) {
  const lines = readFileSync(join(root, "CHANGELOG.md"), "utf8").split("\n");
  return lines.some((line) => line.startsWith(`## [${version}]`) || line === `To become ${version}.`);
}

const [word, ...others] = process.argv.slice(2);
try {
  if (word === "--check" && others.length === 0) check();
  else if (word === undefined || word.startsWith("-") || others.length > 0) throw new PlainError(HELP);
  else set(word);
} catch (error) {
  complain(error instanceof PlainError ? error.message : String(/** @type {Error} */ (error).stack));
  process.exitCode = 1;
}
