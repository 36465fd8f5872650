import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PlainError, say } from "../progress.mjs";
import { findKubectl } from "../setup/kubectl-program.mjs";
import { expectIn } from "./stranger.mjs";

/**
 * What the project's image would be made of, without an engine: the files that .dockerignore lets in, what the Dockerfile does
 * with them, and its command. And its manifests, where there is a kubectl.
 *
 * @param {import("./stranger.mjs").Stranger} stranger
 * @param {string} project
 * @param {string} name
 */
export async function tryImageContext({ run, refusal }, project, name) {
  const context = join(project, "..", "context");
  copyContext(project, context);
  const lines = readFileSync(join(project, "Dockerfile"), "utf8").split("\n");
  const copied = lines.filter((line) => line.startsWith("COPY ")).flatMap((line) => line.split(" ").slice(1, -1));
  const missing = copied.filter((file) => !existsSync(join(context, file)));
  if (missing.length > 0) throw new PlainError(`The Dockerfile copies what .dockerignore keeps out: ${missing.join(", ")}`);
  const tests = readdirSync(join(context, "observers")).filter((file) => file.includes(".test."));
  if (tests.length > 0) throw new PlainError(`Tests come into the image: ${tests.join(", ")}`);
  for (const line of lines.filter((each) => each.startsWith("RUN "))) await run(context, "sh", ["-c", line.slice(4)]);
  const command = JSON.parse(lines.find((line) => line.startsWith("CMD "))?.slice(4) ?? "[]");
  expectIn(await refusal(context, join(context, command[0]), []), "AMQP_URL: is required", "The image's command");
  const kubectl = findKubectl();
  if (kubectl === null) return say("  its manifests are left out: there is no kubectl");
  expectIn(await run(project, kubectl, ["kustomize", "k8s"]), `secretName: ${name}-connections`, "kubectl kustomize k8s");
}

/** .dockerignore as the template writes it: all out, then what is let in, then what is out again. @param {string} from @param {string} to */
function copyContext(from, to) {
  const rules = readFileSync(join(from, ".dockerignore"), "utf8").split("\n");
  const letIn = rules.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
  const endings = rules.filter((line) => line.startsWith("**/*")).map((line) => line.slice(4));
  mkdirSync(to);
  for (const each of letIn)
    cpSync(join(from, each), join(to, each), {
      recursive: true,
      filter: (file) => !endings.some((ending) => file.endsWith(ending)),
    });
}
