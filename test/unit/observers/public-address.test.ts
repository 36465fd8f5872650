import type { LookupAddress } from "node:dns";
import { expect, test } from "vitest";
import { whyNotPublic } from "../../../observers/outbound/public-address.ts";
import { AddressRefused, publicOnly, refuseInnerAddress } from "../../../observers/outbound/reach.ts";

test.each([
  ["127.0.0.1", "loopback"],
  ["127.255.255.254", "loopback"],
  ["0.0.0.0", "this host's own network"],
  ["10.0.0.1", "private"],
  ["172.16.0.1", "private"],
  ["172.31.255.255", "private"],
  ["192.168.1.1", "private"],
  ["100.64.0.1", "shared by a provider's customers"],
  ["100.127.255.255", "shared by a provider's customers"],
  ["169.254.169.254", "link-local"],
  ["168.63.129.16", "a cloud's own host"],
  ["192.0.0.192", "reserved"],
  ["198.18.0.1", "reserved"],
  ["224.0.0.1", "multicast"],
  ["255.255.255.255", "reserved"],
  ["::", "reserved"],
  ["::1", "loopback"],
  ["fe80::1", "link-local"],
  ["fe80::1%eth0", "link-local"],
  ["fd00:ec2::254", "private"],
  ["ff02::1", "multicast"],
  ["fec0::1", "reserved"],
  ["2001:db8::1", "reserved"],
  ["2002:7f00:1::", "reserved"],
  ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "reserved"],
  ["::127.0.0.1", "reserved"],
  ["::ffff:127.0.0.1", "loopback"],
  ["::ffff:7f00:1", "loopback"],
  ["::ffff:169.254.169.254", "link-local"],
  ["64:ff9b::10.0.0.1", "private"],
  ["64:ff9b::a9fe:a9fe", "link-local"],
  ["64:ff9b::", "this host's own network"],
  ["64:ff9b:1::1", "reserved"],
  ["no address", "unreadable"],
])("%s is not public: %s", (address, why) => {
  expect(whyNotPublic(address)).toBe(why);
});

test.each([
  "1.1.1.1",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "192.167.255.255",
  "223.255.255.255",
  "2606:4700:4700::1111",
  "2a00:1450:4001:80b::200e",
  "::ffff:8.8.8.8",
  "64:ff9b::808:808",
])("%s is public", (address) => {
  expect(whyNotPublic(address)).toBeUndefined();
});

test.each([
  "http://127.0.0.1/",
  "http://2130706433/",
  "http://0x7f000001/",
  "http://0x7f.1/",
  "http://0177.0.0.1/",
  "http://127.1/",
  "http://127.0.0.1./",
  "http://①②⑦.0.0.1/",
  "http://0/",
  "ws://[::1]:8080/",
  "ws://[::ffff:127.0.0.1]/",
  "wss://[::]/",
])("the host of %s is refused before anything is looked up, however it is written", (url) => {
  expect(() => refuseInnerAddress(new URL(url).hostname)).toThrow(AddressRefused);
});

test("a name is left to the look-up, also one that looks like an address", () => {
  for (const host of ["example.org", "127.0.0.1.example.org", "localhost"]) expect(refuseInnerAddress(host)).toBeUndefined();
});

/** Answers once with the addresses, and then with loopback, as a name does that is rebound. */
function rebound(...addresses: LookupAddress[]) {
  const asked: string[] = [];
  const lookup = publicOnly((host, _options, callback) => {
    asked.push(host);
    callback(null, asked.length === 1 ? addresses : [{ address: "127.0.0.1", family: 4 }]);
  });
  const ask = (all: boolean) =>
    new Promise<unknown>((resolve, reject) => {
      lookup("example.org", { all }, (error, address, family) =>
        error === null ? resolve(all ? address : { address, family }) : reject(error),
      );
    });
  return { asked, ask };
}

const PUBLIC = { address: "1.1.1.1", family: 4 };
const PUBLIC_V6 = { address: "2606:4700:4700::1111", family: 6 };

test("a look-up asks once and answers exactly what it has checked, so that a name cannot be rebound in between", async () => {
  const { asked, ask } = rebound(PUBLIC, PUBLIC_V6);
  expect(await ask(true)).toEqual([PUBLIC, PUBLIC_V6]);
  expect(asked).toEqual(["example.org"]);
  await expect(ask(true)).rejects.toThrow("example.org leads to 127.0.0.1, which is not a public address (loopback)");
});

test("one address is answered where one is asked for", async () => {
  expect(await rebound(PUBLIC, PUBLIC_V6).ask(false)).toEqual(PUBLIC);
});

test("a name with one inner address among public ones is refused whole", async () => {
  const inner = { address: "::ffff:10.0.0.1", family: 6 };
  await expect(rebound(PUBLIC, inner).ask(true)).rejects.toMatchObject({ code: "address-refused" });
});
