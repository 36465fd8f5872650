/**
 * What the operator of a service permits its observers to reach. It binds the types that ask for it (`restrictObserver`),
 * so that a caller who may create an observer does not thereby choose commands and inner addresses. It is no sandbox: an
 * observer's own code is the operator's, and is trusted.
 */
export type Permissions = {
  /** The commands that may be run, each a name or an absolute path; `"any"`, or empty: none. */
  readonly commands: "any" | readonly string[];
  /** The environment variables that params may set for a command, by name; `"any"`, or empty: none. */
  readonly variables: "any" | readonly string[];
  /** Whether loopback, private, link-local and other addresses that are not public may be connected to. */
  readonly privateAddresses: boolean;
};

/** Permits everything: for a test on one's own machine. */
export const everythingPermitted: Permissions = Object.freeze({ commands: "any", variables: "any", privateAddresses: true });
