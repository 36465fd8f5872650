import { BlockList, isIP } from "node:net";
import type { Manifest } from "./kustomization.ts";

/** Who talks: a pod of the overlay's namespace, or of another one. */
export interface Talker {
  /** Of its pod. */
  labels: Record<string, string>;
  /** Not given: the overlay's own. */
  namespace?: string;
}

export interface Listener {
  /** Of its pod; `address` stands for somebody who is none. */
  labels?: Record<string, string>;
  address?: string;
  /** The port's number, and its name where the pod has named it. */
  port: number;
  portName?: string;
}

interface Selector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: "In"; values: string[] }[];
}

interface Peer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except: string[] };
}

interface Rule {
  from?: Peer[];
  to?: Peer[];
  ports?: { port: number | string; endPort?: number; protocol?: "TCP" | "UDP" }[];
}

interface Policy {
  podSelector: Selector;
  policyTypes: ("Ingress" | "Egress")[];
  ingress?: Rule[];
  egress?: Rule[];
}

/**
 * Whether policies let one talk to another over TCP, as the API defines it: a pod that no policy of a direction selects is
 * open in that direction; one that any selects is closed but for what their rules name. Pods outside have no policies here.
 */
export function mayTalk(manifests: readonly Manifest[], from: Talker, to: Listener): boolean {
  const policies = manifests.filter(({ kind }) => kind === "NetworkPolicy").map(({ spec }) => spec as Policy);
  const { labels, address } = to;
  const leaves = from.namespace !== undefined || passes(policies, "Egress", from.labels, { labels, address }, to);
  return leaves && (labels === undefined || passes(policies, "Ingress", labels, from, to));
}

function passes(
  policies: Policy[],
  direction: "Ingress" | "Egress",
  own: Record<string, string>,
  other: Other,
  { port, portName }: Listener,
): boolean {
  const selecting = policies.filter((each) => each.policyTypes.includes(direction) && selects(each.podSelector, own));
  if (selecting.length === 0) return true;
  const rules = selecting.flatMap(({ ingress = [], egress = [] }) => (direction === "Ingress" ? ingress : egress));
  return rules.some(({ from, to, ports }) => {
    const peers = direction === "Ingress" ? from : to;
    const isPeer = peers === undefined || peers.some((peer) => fits(peer, other));
    const isPort =
      ports === undefined ||
      ports.some(
        (each) =>
          each.protocol !== "UDP" &&
          (each.port === portName || (Number(each.port) <= port && port <= Number(each.endPort ?? each.port))),
      );
    return isPeer && isPort;
  });
}

type Other = Partial<Talker> & { address?: string | undefined };

function fits({ podSelector, namespaceSelector, ipBlock }: Peer, { labels, namespace, address }: Other): boolean {
  if (ipBlock !== undefined) return address !== undefined && isIn(ipBlock, address); // pods' are private, which ours leave out
  if (labels === undefined) return false;
  if (namespaceSelector === undefined && namespace !== undefined) return false;
  const isThere =
    namespaceSelector === undefined ||
    (namespace !== undefined && selects(namespaceSelector, { "kubernetes.io/metadata.name": namespace }));
  return isThere && (podSelector === undefined || selects(podSelector, labels));
}

function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Record<string, string>): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ""))
  );
}

function isIn({ cidr, except }: NonNullable<Peer["ipBlock"]>, address: string): boolean {
  const family = isIP(address) === 6 ? "ipv6" : "ipv4";
  const holds = (block: string): boolean => {
    const [network = "", bits] = block.split("/");
    if (isIP(network) !== isIP(address)) return false;
    const list = new BlockList();
    list.addSubnet(network, Number(bits), family);
    return list.check(address, family);
  };
  return holds(cidr) && !except.some(holds);
}
