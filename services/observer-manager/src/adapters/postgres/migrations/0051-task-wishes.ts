import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * docs/decisions/0038-create-task-by-sql.md. Who met another task's key held the lock of its row until he committed, and the
 * end of that task, with all that was told behind it, waited for him. Now `return` and `reject` lock nothing, and what
 * `replace` and `queue-latest` want stands in `task_wishes` and is done as the transaction commits: a row lives as long as that.
 */
const WISHES = `CREATE TABLE task_wishes (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  type text NOT NULL,
  key text NOT NULL,
  on_conflict text NOT NULL,
  id uuid,
  params jsonb NOT NULL,
  pool text NOT NULL,
  priority integer NOT NULL,
  start_at timestamptz,
  max_attempts integer)`;

/** As a create with that key: the task that had it at the call may be over by now. */
const grantIn = (books: string): string => `
  CREATE FUNCTION unacked_grant_task_wish() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ${books}, pg_temp AS $$
  DECLARE
    new_status text := CASE WHEN NEW.start_at > unacked_now() THEN 'Scheduled' ELSE 'Ready' END;
    is_granted boolean := false;
    other record;
    created_id uuid;
  BEGIN
    FOR round IN 1..20 LOOP
      SELECT t.id, t.status INTO other FROM tasks t WHERE t.type = NEW.type AND t.key = NEW.key FOR UPDATE;
      IF FOUND AND NEW.on_conflict = 'replace' AND other.status IN ('Scheduled', 'Ready') THEN
        UPDATE tasks t SET params = NEW.params, next_params = NULL, pool = NEW.pool, priority = NEW.priority, max_attempts = NEW.max_attempts,
          due_at = coalesce(NEW.start_at, unacked_now()), status = new_status, failures = 0, crashes = 0, last_error = NULL
        WHERE t.id = other.id;
        is_granted := true;
      ELSIF FOUND THEN
        UPDATE tasks t SET next_params = NEW.params WHERE t.id = other.id;
        is_granted := true;
      ELSE
        INSERT INTO tasks (id, type, params, pool, priority, due_at, max_attempts, status, key)
        VALUES (coalesce(NEW.id, gen_random_uuid()), NEW.type, NEW.params, NEW.pool, NEW.priority, coalesce(NEW.start_at, unacked_now()),
                NEW.max_attempts, new_status, NEW.key)
        ON CONFLICT DO NOTHING RETURNING tasks.id INTO created_id;
        is_granted := FOUND;
      END IF;
      EXIT WHEN is_granted;
    END LOOP;
    IF NOT is_granted THEN
      RAISE EXCEPTION 'unacked_create_task: the tasks that have the key % are over each time they are looked at', NEW.key
        USING ERRCODE = 'lock_not_available';
    END IF;
    IF created_id IS NOT NULL THEN
      INSERT INTO task_figure_deltas (type, pool, created) VALUES (NEW.type, NEW.pool, 1);
      INSERT INTO audit (id, actor, role, authentication, address, request_id, deed, count, targets, details)
      VALUES (gen_random_uuid(), session_user, 'operator', 'database', coalesce(host(inet_client_addr()), 'local'),
              'transaction ' || pg_current_xact_id(), 'task.create', 1,
              jsonb_build_array(jsonb_build_object('kind', 'task', 'id', created_id, 'name', NULL)), '{}');
    END IF;
    DELETE FROM task_wishes w WHERE w.position = NEW.position;
    RETURN NULL;
  END $$`;

const GRANTED = `CREATE CONSTRAINT TRIGGER task_wishes_granted AFTER INSERT ON task_wishes
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION unacked_grant_task_wish()`;

const LOCKED_LOOK =
  "SELECT t.id, t.status INTO other FROM tasks t WHERE t.type = unacked_create_task.type AND t.key = unacked_create_task.key FOR UPDATE;";
const LOOK = LOCKED_LOOK.replace(" FOR UPDATE;", ";");

const DONE_AT_ONCE = `ELSIF unacked_create_task.on_conflict = 'replace' AND other.status IN ('Scheduled', 'Ready') THEN
        UPDATE tasks t SET params = unacked_create_task.params, next_params = NULL, pool = unacked_create_task.pool,
          priority = unacked_create_task.priority, max_attempts = unacked_create_task.max_attempts,
          due_at = coalesce(unacked_create_task.start_at, unacked_now()), status = new_status, failures = 0, last_error = NULL
        WHERE t.id = other.id;
        outcome := 'replaced';
      ELSE
        UPDATE tasks t SET next_params = unacked_create_task.params WHERE t.id = other.id;
        outcome := 'queued';
      END IF;`;
const DONE_AT_COMMIT = `ELSE
        outcome := CASE WHEN unacked_create_task.on_conflict = 'replace' AND other.status IN ('Scheduled', 'Ready') THEN 'replaced' ELSE 'queued' END;
        INSERT INTO task_wishes (type, key, on_conflict, id, params, pool, priority, start_at, max_attempts)
        VALUES (unacked_create_task.type, unacked_create_task.key, unacked_create_task.on_conflict, unacked_create_task.id,
                unacked_create_task.params, unacked_create_task.pool, unacked_create_task.priority, unacked_create_task.start_at,
                unacked_create_task.max_attempts);
      END IF;`;

/** Changed where it stands, so that whom it was granted to keeps it. */
async function replaceInFunction(queryRunner: QueryRunner, parts: [before: string, after: string][]): Promise<void> {
  const found = "SELECT pg_get_functiondef('unacked_create_task'::regproc) AS definition";
  const [{ definition }] = (await queryRunner.query(found)) as [{ definition: string }];
  for (const [before] of parts)
    if (!definition.includes(before)) throw new Error("unacked_create_task is not as the migrations before made it");
  await queryRunner.query(parts.reduce((text, [before, after]) => text.replace(before, () => after), definition));
}

export class TaskWishes0051 implements MigrationInterface {
  name = "TaskWishes1798000000051";

  async up(queryRunner: QueryRunner): Promise<void> {
    const [{ books }] = (await queryRunner.query("SELECT quote_ident(current_schema()) AS books")) as [{ books: string }];
    const create = [WISHES, grantIn(books), "REVOKE ALL ON FUNCTION unacked_grant_task_wish FROM PUBLIC", GRANTED];
    for (const statement of create) await queryRunner.query(statement);
    await replaceInFunction(queryRunner, [
      [LOCKED_LOOK, LOOK],
      [DONE_AT_ONCE, DONE_AT_COMMIT],
    ]);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await replaceInFunction(queryRunner, [
      [LOOK, LOCKED_LOOK],
      [DONE_AT_COMMIT, DONE_AT_ONCE],
    ]);
    for (const what of ["TABLE task_wishes", "FUNCTION unacked_grant_task_wish"]) await queryRunner.query(`DROP ${what}`);
  }
}
