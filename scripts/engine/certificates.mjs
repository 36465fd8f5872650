import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runTool } from "../setup/run-tool.mjs";

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/**
 * What cert-manager and CloudNativePG would issue: an authority, and a certificate of it for some names.
 *
 * @param {string[]} names
 * @returns {Promise<{ "ca.crt": string, "tls.crt": string, "tls.key": string }>}
 */
export async function issueCertificate(names) {
  const dir = mkdtempSync(join(tmpdir(), "unacked-certificates-"));
  const openssl = (/** @type {string[]} */ ...args) => runTool("openssl", args, { cwd: dir });
  const read = (/** @type {string} */ file) => readFileSync(join(dir, file), "utf8");
  try {
    const [name = ""] = names;
    writeFileSync(join(dir, "names"), `subjectAltName=${names.map((each) => `DNS:${each}`).join(",")}\n`);
    await openssl("req", "-x509", ...NEW_KEY, "-subj", "/CN=trial-ca", "-days", "2", "-keyout", "ca.key", "-out", "ca.crt");
    await openssl("req", ...NEW_KEY, "-subj", `/CN=${name}`, "-keyout", "tls.key", "-out", "tls.csr");
    const signing = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"];
    await openssl("x509", "-req", "-in", "tls.csr", ...signing, "-out", "tls.crt");
    return { "ca.crt": read("ca.crt"), "tls.crt": read("tls.crt"), "tls.key": read("tls.key") };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
