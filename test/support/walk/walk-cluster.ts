import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster, NodeName } from "../../../scripts/servers/cluster/cluster.mjs";

/** A paused node looks for the others every second, and then starts its applications. */
const OPERATOR_WAITS_MS = 20_000;
const NODES: NodeName[] = ["a", "b", "c"];

/** What befalls the nodes of a cluster in a walk. Each resolves when all three run together again. */
export class WalkCluster {
  readonly #cluster: Cluster;
  /** What was done to it, and how often: a step is left out while something else is being done to the broker. */
  readonly done = new Map<string, number>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** The address that the service with this number (1 and up) reaches the broker by. */
  amqpUrlFor(service: number): string {
    return this.#cluster.amqpUrl(nodeAt((service - 1) / NODES.length));
  }

  /** A node loses both others, or the next one alone. */
  async part(share: number, whom: "both" | "next", how: "reset" | "silent", forMs: number): Promise<void> {
    this.#count(`${whom === "both" ? "a node" : "a link"} cut, ${how}`);
    const node = nodeAt(share);
    const next = NODES[(NODES.indexOf(node) + 1) % NODES.length] as NodeName;
    const lost = NODES.filter((each) => (whom === "next" ? each === next : each !== node));
    await this.#cluster.cut(
      lost.map((each) => [node, each]),
      how,
    );
    await sleep(forMs);
    await this.#cluster.heal();
    await this.#cluster.untilMet();
    await this.#mend();
  }

  async killNode(share: number, downMs: number): Promise<void> {
    this.#count("a node killed");
    const node = nodeAt(share);
    await this.#cluster.endNode(node, "SIGKILL");
    await sleep(downMs);
    await this.#cluster.start(node);
    await this.#mend();
  }

  /** Under `pause_minority` they come together by themselves, but for a rest: there an operator starts one again. */
  async #mend(): Promise<void> {
    for (let i = 0; i < NODES.length; i += 1) {
      if (await this.#isWholeSoon()) return;
      const [stray] = await this.#cluster.strays();
      if (stray === undefined) return;
      this.#count("a node started again by hand");
      await this.#cluster.endNode(stray, "SIGKILL");
      await this.#cluster.start(stray);
    }
    await this.#cluster.untilWhole();
  }

  async #isWholeSoon(): Promise<boolean> {
    return this.#cluster.untilWhole(OPERATOR_WAITS_MS).then(
      () => true,
      () => false,
    );
  }

  #count(what: string): void {
    this.done.set(what, (this.done.get(what) ?? 0) + 1);
  }
}

const nodeAt = (share: number): NodeName => NODES[Math.floor(share * NODES.length)] as NodeName;
