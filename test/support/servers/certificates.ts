import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./servers.ts";

/** Files in PEM form. */
export interface Certificate {
  certFile: string;
  keyFile: string;
}

export interface Authority extends Certificate {
  /** @param host the name that it bears; of a server */
  sign(name: string, options?: { host?: string; isExpired?: boolean }): Certificate;
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** A certificate authority of the test's own, in a folder that goes with the file. Needs the `openssl` program. */
export function authority(name: string): Authority {
  const dir = temporaryFolder(name);
  const fileOf = (file: string) => join(dir, file);
  const ca = { certFile: fileOf("ca.pem"), keyFile: fileOf("ca.key") };
  openssl("req", "-x509", ...NEW_KEY, "-keyout", ca.keyFile, "-out", ca.certFile, "-days", "2", "-subj", `/CN=${name}`);
  return {
    ...ca,
    sign(subject, { host, isExpired = false } = {}) {
      const [certFile, keyFile, request, extensions] = ["pem", "key", "csr", "ext"].map((end) =>
        fileOf(`${subject}.${end}`),
      ) as [string, string, string, string];
      writeFileSync(extensions, host === undefined ? "extendedKeyUsage=clientAuth\n" : `subjectAltName=DNS:${host}\n`);
      openssl("req", ...NEW_KEY, "-keyout", keyFile, "-out", request, "-subj", `/CN=${subject}`);
      const signedBy = ["-CA", ca.certFile, "-CAkey", ca.keyFile, "-CAcreateserial", "-extfile", extensions];
      openssl("x509", "-req", "-in", request, "-out", certFile, ...signedBy, "-days", isExpired ? "-1" : "2");
      return { certFile, keyFile };
    },
  };
}

function openssl(...args: string[]): void {
  try {
    execFileSync("openssl", args, { stdio: "pipe" });
  } catch (error) {
    throw new Error("openssl could not make a certificate for the tests: install the program openssl.", { cause: error });
  }
}
