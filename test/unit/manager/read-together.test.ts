import type { Delivery } from "@unacked/broker";
import { expect, test } from "vitest";
import { readTogether } from "../../../services/observer-manager/src/adapters/amqp/deliveries/read-together.ts";

const deliveries = (...sizes: number[]): Delivery[] => sizes.map((size) => ({ body: Buffer.alloc(size) }) as Delivery);
const sizesOf = (portions: Iterable<Delivery[]>): number[][] =>
  [...portions].map((some) => some.map(({ body }) => body.length));

test("What has so many bytes together is read together, in order, and what is larger by itself", () => {
  expect(sizesOf(readTogether([], 10))).toEqual([]);
  expect(sizesOf(readTogether(deliveries(4, 6, 1, 11, 0, 10, 1), 10))).toEqual([[4, 6], [1], [11], [0, 10], [1]]);
});

test("Of messages of a MiB eight are read together, and of small ones all that there are", () => {
  const lengths = (size: number, count: number) =>
    sizesOf(readTogether(deliveries(...Array.from({ length: count }, () => size)))).map(({ length }) => length);
  expect(lengths(1_048_576, 20)).toEqual([8, 8, 4]);
  expect(lengths(16_384, 500)).toEqual([500]);
});
