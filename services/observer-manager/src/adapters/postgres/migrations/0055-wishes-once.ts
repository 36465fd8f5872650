import type { MigrationInterface, QueryRunner } from "typeorm";

const LOOK = "SELECT t.id, t.status INTO other FROM tasks t WHERE t.type = NEW.type AND t.key = NEW.key FOR UPDATE;";
/** Behind the lock: whoever has the key now may have had it from the task of this id. */
const LOOK_FOR_ID = `${LOOK}
      IF NEW.id IS NOT NULL AND EXISTS (
        SELECT FROM tasks t WHERE t.id = NEW.id UNION ALL SELECT FROM ended_tasks e WHERE e.id = NEW.id) THEN
        is_granted := true;
        EXIT;
      END IF;`;

const INSERTED = "is_granted := FOUND;";
/** As in unacked_create_task: while it waited for the id, its task may have ended. */
const TAKEN_BACK = `${INSERTED}
        IF is_granted AND NEW.id IS NOT NULL AND EXISTS (SELECT FROM ended_tasks e WHERE e.id = NEW.id) THEN
          DELETE FROM tasks t WHERE t.id = created_id;
          created_id := NULL;
        END IF;`;

/** Changed where it stands: nobody but its owner may execute it. */
async function replaceInFunction(queryRunner: QueryRunner, parts: [before: string, after: string][]): Promise<void> {
  const found = "SELECT pg_get_functiondef('unacked_grant_task_wish'::regproc) AS definition";
  const [{ definition }] = (await queryRunner.query(found)) as [{ definition: string }];
  for (const [before] of parts)
    if (!definition.includes(before)) throw new Error("unacked_grant_task_wish is not as the migrations before made it");
  await queryRunner.query(parts.reduce((text, [before, after]) => text.replace(before, () => after), definition));
}

/**
 * `unacked_create_task` with an id and a key that another task had, asked again by who had no answer: granted at the commit, and the id was not looked
 * at any more. So a task that had ended in the meantime was created once more, and one that ran ran again with the same params.
 */
export class WishesOnce0055 implements MigrationInterface {
  name = "WishesOnce1798300000055";

  up(queryRunner: QueryRunner): Promise<void> {
    return replaceInFunction(queryRunner, [
      [LOOK, LOOK_FOR_ID],
      [INSERTED, TAKEN_BACK],
    ]);
  }

  down(queryRunner: QueryRunner): Promise<void> {
    return replaceInFunction(queryRunner, [
      [LOOK_FOR_ID, LOOK],
      [TAKEN_BACK, INSERTED],
    ]);
  }
}
