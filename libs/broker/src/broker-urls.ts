/**
 * The nodes of one broker in their order, from a text that separates them by commas. A comma in a password is written `%2C`.
 */
export const brokerUrls = (urls: string): string[] => urls.split(/,\s*(?=amqps?:\/\/)/).map((url) => url.trim());

/**
 * Which node is tried next: the first at random, so that clients spread over all; after each loss another one, so that they leave a dead
 * node at once.
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
