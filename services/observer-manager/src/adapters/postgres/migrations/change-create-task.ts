import type { QueryRunner } from "typeorm";

/** Changes `unacked_create_task` where it stands, so that whom it was granted to keeps it. */
export async function changeCreateTask(queryRunner: QueryRunner, parts: [before: string, after: string][]): Promise<void> {
  const found = "SELECT pg_get_functiondef('unacked_create_task'::regproc) AS definition";
  const [{ definition }] = (await queryRunner.query(found)) as [{ definition: string }];
  for (const [before] of parts)
    if (!definition.includes(before)) throw new Error("unacked_create_task is not as the migrations before made it");
  await queryRunner.query(parts.reduce((text, [before, after]) => text.replace(before, () => after), definition));
}
