import type { RequestHandler } from "express";
import helmet from "helmet";

const OWN_FILES_ALONE = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'"],
  connectSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};

/**
 * Nothing but our own files may run, and no page may frame us. HSTS is set only if the manager itself does TLS; otherwise it is
 * up to the proxy that does.
 */
export const securityHeaders = ({ isTls }: { isTls: boolean }): RequestHandler =>
  helmet({
    contentSecurityPolicy: { useDefaults: false, directives: OWN_FILES_ALONE },
    strictTransportSecurity: isTls,
  });

/** For the API's documentation: the styles of Swagger UI contain their small pictures. */
export const allowPicturesInStyles = (): RequestHandler =>
  helmet.contentSecurityPolicy({
    useDefaults: false,
    directives: { ...OWN_FILES_ALONE, imgSrc: ["'self'", "data:"] },
  });
