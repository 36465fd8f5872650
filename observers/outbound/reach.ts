import { type LookupAddress, type LookupAllOptions, lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { whyNotPublic } from "./public-address.ts";

/** An observer was pointed to an address that this service does not let it reach. */
export class AddressRefused extends Error {
  override readonly name = "AddressRefused";
  readonly code = "address-refused";

  constructor(host: string, address: string, why: string) {
    const leads = host === address ? `${host} is` : `${host} leads to ${address}, which is`;
    super(`${leads} not a public address (${why}), and this service reaches no others (ALLOW_PRIVATE_ADDRESSES)`);
  }
}

/** Throws AddressRefused for a host (of an URL, IPv6 in brackets or not) that is itself an address, and not a public one. */
export function refuseInnerAddress(host: string): void {
  const address = host.replace(/^\[(.*)\]$/, "$1");
  const why = isIP(address) === 0 ? undefined : whyNotPublic(address);
  if (why !== undefined) throw new AddressRefused(address, address, why);
}

/**
 * For `net.connect` and whatever hands its options on: like `dns.lookup`, but a name that leads to any address that is not
 * public is an error. What it answers is what is connected to, so a name cannot change its mind after the check. It is not
 * asked for a host that is an address: see `refuseInnerAddress`.
 */
export const lookupPublic = publicOnly(lookup);

/** @param resolve asked once for each connection */
export function publicOnly(resolve: ResolveAll): LookupFunction {
  return (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, "");
      for (const { address } of addresses) {
        const why = whyNotPublic(address);
        if (why !== undefined) return callback(new AddressRefused(host, address, why), "");
      }
      if (options.all === true) return callback(null, addresses);
      const [first] = addresses;
      callback(null, first?.address ?? "", first?.family);
    });
  };
}

type ResolveAll = (
  host: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;
