import type { RequestHandler } from "express";
import helmet from "helmet";

/**
 * Nothing but our own files may run, and no page may frame us. HSTS only where the manager itself does TLS: otherwise that is the
 * business of the proxy that does.
 */
export const securityHeaders = ({ isTls }: { isTls: boolean }): RequestHandler =>
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'"],
        connectSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    strictTransportSecurity: isTls,
  });
