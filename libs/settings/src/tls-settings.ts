import { accessSync, constants } from "node:fs";
import { z } from "zod";
import { text } from "./setting.ts";

/** Files in PEM form, by which a program and its server authenticate each other. */
export interface TlsFiles {
  /** The authorities that may sign the server's certificate. Without it, those that Node knows. */
  readonly caFile?: string | undefined;
  /** The program's own certificate, for servers that ask for one, and its key. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** The name that the server's certificate has to bear. Without it, the host of its address. */
  readonly serverName?: string | undefined;
}

type Suffix = "CA_FILE" | "CERT_FILE" | "KEY_FILE" | "SERVER_NAME";
type TlsShape<P extends string> = Record<`${P}_TLS_${Suffix}`, z.ZodOptional<z.ZodType<string, unknown>>>;

/** The settings `<prefix>_TLS_…` of one server's TLS, to be spread into a program's. @param server how texts call it */
export function tlsSettings<P extends string>(prefix: P, server: string): TlsShape<P> {
  return {
    [`${prefix}_TLS_CA_FILE`]: readableFile()
      .optional()
      .describe(
        `A file (PEM) with the certificates of the authorities that may sign ${server}'s certificate. Not set: those that Node.js knows.`,
      ),
    [`${prefix}_TLS_CERT_FILE`]: readableFile()
      .optional()
      .describe(`The program's own certificate (PEM), where ${server} asks for one.`),
    [`${prefix}_TLS_KEY_FILE`]: readableFile().optional().describe("The key of that certificate (PEM)."),
    [`${prefix}_TLS_SERVER_NAME`]: text()
      .optional()
      .describe(`The name that ${server}'s certificate must have. Not set: the host of its address.`),
  } as TlsShape<P>;
}

export function tlsFilesOf<P extends string>(
  prefix: P,
  settings: { [K in keyof TlsShape<P>]?: string | undefined },
): TlsFiles {
  const of = (suffix: Suffix): string | undefined => settings[`${prefix}_TLS_${suffix}` as keyof TlsShape<P>];
  return { caFile: of("CA_FILE"), certFile: of("CERT_FILE"), keyFile: of("KEY_FILE"), serverName: of("SERVER_NAME") };
}

/** Contradictions between these settings, or with an address that is not encrypted, each with its setting. */
export function tlsFlaws(
  prefix: string,
  files: TlsFiles,
  isEncrypted: boolean,
  remedy: string,
): { setting: string; message: string }[] {
  const { caFile, certFile, keyFile, serverName } = files;
  const given = { CA_FILE: caFile, CERT_FILE: certFile, KEY_FILE: keyFile, SERVER_NAME: serverName };
  const names = Object.entries(given).flatMap(([suffix, value]) => (value === undefined ? [] : [`${prefix}_TLS_${suffix}`]));
  if (!isEncrypted) return names.map((setting) => ({ setting, message: remedy }));
  if ((certFile === undefined) === (keyFile === undefined)) return [];
  const missing = certFile === undefined ? "CERT_FILE" : "KEY_FILE";
  return [{ setting: `${prefix}_TLS_${missing}`, message: "is required, too: a certificate and its key go together" }];
}

/** The file has to be readable when the program starts; its contents are read later. */
function readableFile(): z.ZodType<string, unknown> {
  return text().superRefine((path, context) => {
    try {
      accessSync(path, constants.R_OK);
    } catch (error) {
      context.addIssue({ code: "custom", message: `cannot be read: ${(error as Error).message}` });
    }
  });
}
