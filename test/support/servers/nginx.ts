import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import { holdOnLeash } from "../../../scripts/processes/leash.mjs";
import { freePort } from "../../../scripts/servers/free-port.mjs";
import { findNginx, WHY_NO_NGINX } from "../../../scripts/setup/nginx-program.mjs";
import { eventually } from "../eventually.ts";
import { ROOT } from "../processes/processes.ts";
import { authority } from "./certificates.ts";
import { temporaryFolder } from "./servers.ts";

/** Debian's nginx before a manager, as docs/deploy.md says it, beside another site at `/`. Ends with the file. */
export interface Nginx {
  /** `https://localhost:…`, by a certificate of `caFile`. */
  secureUrl: string;
  /** `http://127.0.0.1:…`, the same without TLS. */
  plainUrl: string;
  caFile: string;
  /** What the other site was asked for, each with the cookies that came with it: `/index.html a=b`. */
  askedOfOthers(): string[];
}

/** Asked for to learn whether it is up. nginx writes its log when the answer has been sent, maybe after it has been read. */
const IS_UP = "/is-up";

/** @param manager its address, with its base path */
export async function startNginx(manager: string): Promise<Nginx> {
  const program = findNginx();
  if (program === null) throw new Error(WHY_NO_NGINX);
  const dir = temporaryFolder("nginx");
  const ca = authority("proxy-ca");
  const [plainPort, securePort] = [await freePort(), await freePort()];
  const { upstream, locations } = linesOfTheGuide(new URL(manager).host);
  writeFileSync(join(dir, "nginx.conf"), configuration({ dir, plainPort, securePort, upstream, locations, ca }));
  const nginx = spawn(program, ["-p", dir, "-c", join(dir, "nginx.conf"), "-e", join(dir, "errors.log")], {
    detached: true,
    stdio: ["ignore", "ignore", "inherit"],
  });
  holdOnLeash(nginx);
  afterAll(() => void nginx.kill("SIGTERM"));
  const plainUrl = `http://127.0.0.1:${plainPort}`;
  await eventually(async () => (await fetch(`${plainUrl}${IS_UP}`)).ok, { what: "nginx" });
  const lines = () => readFileSync(join(dir, "others.log"), "utf8").split("\n").filter(Boolean);
  return {
    plainUrl,
    secureUrl: `https://localhost:${securePort}`,
    caFile: ca.certFile,
    askedOfOthers: () => lines().filter((line) => !line.startsWith(`${IS_UP} `)),
  };
}

/** The two blocks of docs/deploy.md, word for word but for where the manager is. */
function linesOfTheGuide(manager: string): { upstream: string; locations: string } {
  const guide = readFileSync(join(ROOT, "docs/deploy.md"), "utf8");
  const [upstream, locations, ...more] = [...guide.matchAll(/^```nginx\n(?<block>[\s\S]*?)^```$/gm)].map(
    ({ groups }) => groups?.block ?? "",
  );
  if (upstream === undefined || locations === undefined || more.length > 0)
    throw new Error("docs/deploy.md has not the two blocks for nginx that this test knows");
  return { upstream: upstream.replace("127.0.0.1:8080", manager), locations };
}

interface Parts {
  dir: string;
  plainPort: number;
  securePort: number;
  upstream: string;
  locations: string;
  ca: ReturnType<typeof authority>;
}

function configuration({ dir, plainPort, securePort, upstream, locations, ca }: Parts): string {
  const { certFile, keyFile } = ca.sign("proxy", { host: "localhost" });
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${dir}/${kind};`);
  return `daemon off;
worker_processes 1;
pid ${dir}/nginx.pid;
${process.getuid?.() === 0 ? "user root;" : ""}
events {}
http {
  ${temporary.join("\n  ")}
  access_log off;
  log_format others '$request_uri $http_cookie';
  ${upstream}
  server {
    listen 127.0.0.1:${plainPort};
    listen 127.0.0.1:${securePort} ssl;
    ssl_certificate ${certFile};
    ssl_certificate_key ${keyFile};
    location / {
      access_log ${dir}/others.log others;
      default_type text/html;
      return 200 '<!doctype html><title>Another site</title><p>Another site</p>';
    }
    ${locations}
  }
}
`;
}
