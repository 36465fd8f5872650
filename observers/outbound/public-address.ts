import { BlockList, isIP } from "node:net";

/**
 * What of the address space is nobody's server on the internet: IANA's special-purpose registries (RFC 6890 and its
 * successors), and the one public address behind which a cloud (Azure) keeps its host.
 */
const specialV4: readonly [network: string, prefix: number, what: string][] = [
  ["0.0.0.0", 8, "this host's own network"],
  ["10.0.0.0", 8, "private"],
  ["100.64.0.0", 10, "shared by a provider's customers"],
  ["127.0.0.0", 8, "loopback"],
  ["168.63.129.16", 32, "a cloud's own host"],
  ["169.254.0.0", 16, "link-local"],
  ["172.16.0.0", 12, "private"],
  ["192.0.0.0", 24, "reserved"],
  ["192.0.2.0", 24, "reserved"],
  ["192.88.99.0", 24, "reserved"],
  ["192.168.0.0", 16, "private"],
  ["198.18.0.0", 15, "reserved"],
  ["198.51.100.0", 24, "reserved"],
  ["203.0.113.0", 24, "reserved"],
  ["224.0.0.0", 4, "multicast"],
  ["240.0.0.0", 4, "reserved"],
];

const specialV6: readonly [network: string, prefix: number, what: string][] = [
  ["::1", 128, "loopback"],
  ["fc00::", 7, "private"],
  ["fe80::", 10, "link-local"],
  ["ff00::", 8, "multicast"],
  ["2001::", 23, "reserved"],
  ["2001:db8::", 32, "reserved"],
  ["2002::", 16, "reserved"],
  ["3fff::", 20, "reserved"],
];

const inV4 = specialV4.map(([network, prefix, what]) => ({ list: listOf(network, prefix, "ipv4"), what }));
const inV6 = specialV6.map(([network, prefix, what]) => ({ list: listOf(network, prefix, "ipv6"), what }));
/** All of IPv6 that was ever given out to networks. */
const globalV6 = listOf("2000::", 3, "ipv6");
const mappedV4 = listOf("::ffff:0:0", 96, "ipv6");
/** A gateway's way to IPv4 (RFC 6052): where it leads is in the last 32 bits. */
const translatedV4 = listOf("64:ff9b::", 96, "ipv6");

/** Why an IP address is not a public one, as an adjective for it; `undefined` when it is. */
export function whyNotPublic(address: string): string | undefined {
  const [plain = ""] = address.split("%"); // a scope, as in fe80::1%eth0
  switch (isIP(plain)) {
    case 4:
      return inV4.find(({ list }) => list.check(plain, "ipv4"))?.what;
    case 6:
      return whyNotPublicV6(plain);
    default:
      return "unreadable";
  }
}

function whyNotPublicV6(address: string): string | undefined {
  if (mappedV4.check(address, "ipv6") || translatedV4.check(address, "ipv6")) return whyNotPublic(lastAsV4(address));
  const special = inV6.find(({ list }) => list.check(address, "ipv6"));
  return special?.what ?? (globalV6.check(address, "ipv6") ? undefined : "reserved");
}

/** The last 32 bits of an IPv6 address, which may be written as IPv4 already. */
function lastAsV4(address: string): string {
  const dotted = /(\d+\.){3}\d+$/.exec(address);
  if (dotted !== null) return dotted[0];
  const [high = 0, low = 0] = address
    .split(":")
    .slice(-2)
    .map((group) => Number.parseInt(group || "0", 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

function listOf(network: string, prefix: number, family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  list.addSubnet(network, prefix, family);
  return list;
}
