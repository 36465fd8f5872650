import { createServer } from "node:http";

/** A JSON Feed with one item, and how often it was looked at. */
export async function serveFeed() {
  let looks = 0;
  const server = createServer((_, answer) => {
    looks += 1;
    answer.end(JSON.stringify({ items: [{ id: "1", title: "first" }] }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}/`, looks: () => looks, close: () => server.close() };
}
