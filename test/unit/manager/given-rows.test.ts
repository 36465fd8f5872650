import { expect, test } from "vitest";
import { GivenRows, jsonOrNull } from "../../../services/observer-manager/src/adapters/postgres/statements/given-rows.ts";

const PETS = new GivenRows<{ id: string; toys: string[] | null; legs: number }>({
  id: ["uuid", (pet) => pet.id],
  toys: ["jsonb", (pet) => jsonOrNull(pet.toys)],
  legs: ["int", (pet) => pet.legs],
});

test("rows are given by columns, whose numbers and types are in the order of the values", () => {
  expect(PETS.from()).toBe("unnest($1::uuid[], $2::jsonb[], $3::int[]) AS u (id, toys, legs)");
  const rows = [
    { id: "a", toys: ["ball"], legs: 4 },
    { id: "b", toys: null, legs: 3 },
  ];
  expect(PETS.of(rows)).toEqual([
    ["a", "b"],
    ['["ball"]', null],
    [4, 3],
  ]);
});

test("names and assignments leave out what is no column of the table", () => {
  expect(PETS.names()).toBe("id, toys, legs");
  expect(PETS.names(["legs"])).toBe("id, toys");
  expect(PETS.assigned("excluded", ["id"])).toBe("toys = excluded.toys, legs = excluded.legs");
});

test("where one plan is to do for all, PostgreSQL cannot count them", () => {
  expect(PETS.from(false)).toBe("unnest((SELECT $1::uuid[])::uuid[], $2::jsonb[], $3::int[]) AS u (id, toys, legs)");
});
