/** Nodes of one broker, in the order given, of a text that separates them by commas. A comma in a password is written `%2C`. */
export const brokerUrls = (urls: string): string[] => urls.split(/,\s*(?=amqps?:\/\/)/).map((url) => url.trim());

/**
 * Which node is tried next: another one after each loss, so that clients leave a node that is gone at once; the first at random, so that
 * they spread over all.
 */
export class NodeRound {
  readonly #urls: readonly string[];
  #next: number;

  constructor(urls: string, random: () => number = Math.random) {
    this.#urls = brokerUrls(urls);
    this.#next = Math.floor(random() * this.#urls.length);
  }

  next(): string {
    const url = this.#urls[this.#next % this.#urls.length] ?? "";
    this.#next += 1;
    return url;
  }
}
