import type { MigrationInterface, QueryRunner } from "typeorm";

const LAST_FLAW = "WHEN unacked_create_task.max_attempts NOT BETWEEN 1 AND 1000 THEN 'max_attempts: 1 to 1000'";
/** What `z.uuid()` takes (RFC 9562: its versions and its variant, nil and max), of a text that PostgreSQL has made of a uuid. */
const WITH_ID = `${LAST_FLAW}
      WHEN unacked_create_task.id::text !~ '^(.{14}[1-8].{4}[89ab].*|[0-]*|[f-]*)$'
        THEN 'id: a UUID of RFC 9562, such as gen_random_uuid() makes, or uuid_generate_v5() of a name, and not any 128 bits'`;

/** Changed where it stands, so that whom it was granted to keeps it. */
async function replaceInFunction(queryRunner: QueryRunner, before: string, after: string): Promise<void> {
  const found = "SELECT pg_get_functiondef('unacked_create_task'::regproc) AS definition";
  const [{ definition }] = (await queryRunner.query(found)) as [{ definition: string }];
  if (!definition.includes(before)) throw new Error("unacked_create_task is not as the migrations before made it");
  await queryRunner.query(definition.replace(before, () => after));
}

/**
 * `unacked_create_task` refuses the ids that REST refuses. It took `md5('order-17')::uuid`, which clients and services do not take for a UUID:
 * its task did not run, nor did those of its message, and the list of tasks failed. What was created so is left as it is, and runs.
 */
export class TaskIds0054 implements MigrationInterface {
  name = "TaskIds1798200000054";

  up(queryRunner: QueryRunner): Promise<void> {
    return replaceInFunction(queryRunner, LAST_FLAW, WITH_ID);
  }

  down(queryRunner: QueryRunner): Promise<void> {
    return replaceInFunction(queryRunner, WITH_ID, LAST_FLAW);
  }
}
