import { expect, test } from "vitest";
import {
  databaseUrls,
  flawOfDatabaseUrls,
  flawOfServers,
  placeOf,
} from "../../../services/observer-manager/src/adapters/postgres/connection/database-urls.ts";

const NO_FILES = { caFile: undefined, certFile: undefined, keyFile: undefined, serverName: undefined };
const flawOf = (text: string) => flawOfDatabaseUrls(text) ?? flawOfServers(text, NO_FILES);

test("a list is separated by commas, and one alone is taken as it is", () => {
  const two = "postgres://u:p%2C1@a:5432/books, postgresql://u:p@b/books?sslmode=disable";
  expect(databaseUrls(two).map(placeOf)).toEqual(["a:5432", "b"]);
  expect(flawOf(two)).toBeUndefined();
  for (const one of [
    "postgres://u:p@a/books",
    "postgres:///books?host=/run/postgresql",
    "postgres://u@/books?host=/run/postgresql",
    "POSTGRES://u:p@a/books",
    "socket:/run/postgresql?db=books",
    "/run/postgresql books",
  ]) {
    expect(databaseUrls(one)).toEqual([one]);
    expect(flawOf(one)).toBeUndefined();
  }
});

test("a list may be written in capitals; a socket is alone", () => {
  expect(databaseUrls("postgres://a/books,POSTGRES://b/books").map(placeOf)).toEqual(["a", "b"]);
  expect(flawOf("postgres://a/books,POSTGRES://b/books")).toBeUndefined();
  expect(flawOf("socket:/run/postgresql?db=books,postgres://b/books")).toMatch(/each whole$/);
});

test("what is no address of a PostgreSQL is refused", () => {
  for (const other of ["foo://x", "mysql://u:p@a/books", "db", "db:5432/books"])
    expect(flawOf(other), other).toMatch(/^must look like postgres:\/\/user/);
});

test("what cannot be primary and standbys of one database is refused with the reason", () => {
  expect(flawOf("postgres://a/x?sslmode=prefer,postgres://b/x")).toMatch(/^its sslmode must be one of/);
  expect(flawOf("postgres://a/x,postgres://b/y")).toMatch(/same database and sslmode$/);
  expect(flawOf("postgres://a/x?sslmode=require,postgres://b/x")).toMatch(/same database and sslmode$/);
  expect(flawOf("postgres://a,b/x,postgres://c/x")).toMatch(/each whole$/);
});
