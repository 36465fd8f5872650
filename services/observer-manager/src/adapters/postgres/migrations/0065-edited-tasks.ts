import type { MigrationInterface, QueryRunner } from "typeorm";

type Parts = [before: string, after: string][];

const PARTS: Parts = [
  [
    "SELECT t.type, t.pool, t.params, t.key INTO other",
    "SELECT t.type, t.pool, t.params, t.key, coalesce(t.story ? 'edits', false) AS is_edited INTO other",
  ],
  ["other.params <> unacked_create_task.params)", "(NOT other.is_edited AND other.params <> unacked_create_task.params))"],
];

/** Changed where it stands, so that whom it was granted to keeps it. */
async function replaceInFunction(queryRunner: QueryRunner, parts: Parts): Promise<void> {
  const found = "SELECT pg_get_functiondef('unacked_create_task'::regproc) AS definition";
  const [{ definition }] = (await queryRunner.query(found)) as [{ definition: string }];
  for (const [before] of parts)
    if (!definition.includes(before)) throw new Error("unacked_create_task is not as the migrations before made it");
  await queryRunner.query(parts.reduce((text, [before, after]) => text.replaceAll(before, () => after), definition));
}

/**
 * `unacked_create_task` took a repeat for another task with the same id, once somebody had changed its params (`retry-with`): it compared with those, and the
 * caller's transaction was rolled back. Of a task whose story has `edits` the books may not have what it was created with (the last five changes are kept, with 16 KiB each): there type, key and pool tell.
 */
export class EditedTasks0065 implements MigrationInterface {
  name = "EditedTasks1799300000065";

  up(queryRunner: QueryRunner): Promise<void> {
    return replaceInFunction(queryRunner, PARTS);
  }

  down(queryRunner: QueryRunner): Promise<void> {
    return replaceInFunction(
      queryRunner,
      PARTS.map(([before, after]) => [after, before]),
    );
  }
}
