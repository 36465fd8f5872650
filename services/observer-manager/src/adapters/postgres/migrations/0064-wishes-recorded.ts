import type { MigrationInterface, QueryRunner } from "typeorm";

type Parts = [before: string, after: string][];

const ENTRY_OF_CREATE = "jsonb_build_array(jsonb_build_object('kind', 'task', 'id', task_id, 'name', NULL)), '{}');\n";

/** What was an entry whatever the outcome, is one where it is `created`. */
const ofCreate = (books: string): Parts => [
  [
    `unacked_create_task.pool, 1);\n    END IF;\n    INSERT INTO ${books}.audit (`,
    `unacked_create_task.pool, 1);\n      INSERT INTO ${books}.audit (`,
  ],
  [ENTRY_OF_CREATE, `${ENTRY_OF_CREATE}    END IF;\n`],
];

const CHANGED = "WHERE t.id = other.id;\n        is_granted := true;";
const COUNTED = "(NEW.type, NEW.pool, 1);\n";

/** What was an entry of what it created, is one of what it did. */
const ofGrant = (books: string): Parts => [
  ["created_id uuid;\n", "created_id uuid;\n    done_id uuid;\n"],
  [CHANGED, CHANGED.replace("is_granted", "done_id := other.id;\n        is_granted")],
  [
    `${COUNTED}      INSERT INTO ${books}.audit (`,
    `${COUNTED}      done_id := created_id;\n    END IF;\n    IF done_id IS NOT NULL THEN\n      INSERT INTO ${books}.audit (`,
  ],
  ["'id', created_id, 'name'", "'id', done_id, 'name'"],
];

/** Changed where it stands, so that whom it was granted to keeps it. */
async function replaceInFunction(queryRunner: QueryRunner, name: string, parts: Parts): Promise<void> {
  const found = `SELECT pg_get_functiondef('${name}'::regproc) AS definition`;
  const [{ definition }] = (await queryRunner.query(found)) as [{ definition: string }];
  for (const [before] of parts)
    if (!definition.includes(before)) throw new Error(`${name} is not as the migrations before made it`);
  await queryRunner.query(parts.reduce((text, [before, after]) => text.replaceAll(before, () => after), definition));
}

async function schemaOf(queryRunner: QueryRunner): Promise<string> {
  const [{ books }] = (await queryRunner.query("SELECT quote_ident(current_schema()) AS books")) as [{ books: string }];
  return books;
}

const turned = (parts: Parts): Parts => parts.map(([before, after]) => [after, before]);

/**
 * `replace` and `queue-latest` of `unacked_create_task` had their entry of the audit trail as they were asked for, about the task that had the key then, and
 * another one at the commit, where a task was created. So one call had two of them, or one about a task that nobody touched, or one where nothing was done
 * as its id had had its task. Now the entry is of what is done at the commit.
 */
export class WishesRecorded0064 implements MigrationInterface {
  name = "WishesRecorded1799200000064";

  async up(queryRunner: QueryRunner): Promise<void> {
    const books = await schemaOf(queryRunner);
    await replaceInFunction(queryRunner, "unacked_create_task", ofCreate(books));
    await replaceInFunction(queryRunner, "unacked_grant_task_wish", ofGrant(books));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const books = await schemaOf(queryRunner);
    await replaceInFunction(queryRunner, "unacked_create_task", turned(ofCreate(books)));
    await replaceInFunction(queryRunner, "unacked_grant_task_wish", turned(ofGrant(books)));
  }
}
