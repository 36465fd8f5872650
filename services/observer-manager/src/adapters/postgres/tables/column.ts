import type { ColumnType, EntitySchemaColumnOptions } from "typeorm";

/**
 * Columns of the tables, in one line each. `xid8` and `pg_snapshot` are PostgreSQL's (10.6, 8.18) and not among TypeORM's types:
 * data-source.ts tells its driver of them.
 */
export const POSTGRES_TYPES = ["xid8", "pg_snapshot"] as unknown as ColumnType[];

type Kind =
  | ("uuid" | "text" | "integer" | "bigint" | "boolean" | "double precision")
  | ("timestamptz" | "jsonb" | "xid8" | "pg_snapshot");

/** A column that is never null. */
export const column = (type: Kind, name?: string): EntitySchemaColumnOptions => ({
  type: type as ColumnType,
  ...(name !== undefined && { name }),
});

export const nullable = (type: Kind, name?: string): EntitySchemaColumnOptions => ({
  ...column(type, name),
  nullable: true,
});

export const primary = (type: Kind, name?: string): EntitySchemaColumnOptions => ({ ...column(type, name), primary: true });

/** Counted up by PostgreSQL: `GENERATED ALWAYS AS IDENTITY`. */
export const identity = (name?: string): EntitySchemaColumnOptions => ({ ...primary("bigint", name), generated: true });

export const times = (name: string): EntitySchemaColumnOptions => ({ ...column("timestamptz", name), array: true });

export const uuids = (name: string): EntitySchemaColumnOptions => ({ ...column("uuid", name), array: true });
