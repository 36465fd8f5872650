import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * docs/decisions/0038-create-task-by-sql.md. What `unacked_create_task` with `replace` or `queue-latest` is to do to the task that has
 * the key, as its caller's transaction commits: a row lives as long as that.
 */
const WISHES = `
  CREATE TABLE task_wishes (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    type text NOT NULL,
    key text NOT NULL,
    on_conflict text NOT NULL,
    id uuid,
    params jsonb NOT NULL,
    pool text NOT NULL,
    priority integer NOT NULL,
    start_at timestamptz,
    max_attempts integer
  )`;

/**
 * Does what a create with that key would do: the task that had it at the call may be over by now. The entry of the audit trail is about
 * what is done here, so that each call has one, and none where nothing is done. It runs as `unacked_create_task` does, and names the
 * books like it.
 *
 * @param books the schema, quoted
 */
const grantIn = (books: string): string => `
  CREATE FUNCTION unacked_grant_task_wish() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  DECLARE
    new_status text := CASE WHEN NEW.start_at > ${books}.unacked_now() THEN 'Scheduled' ELSE 'Ready' END;
    is_granted boolean := false;
    other record;
    created_id uuid;
    done_id uuid;
  BEGIN
    FOR round IN 1..20 LOOP
      SELECT t.id, t.status INTO other FROM ${books}.tasks t WHERE t.type = NEW.type AND t.key = NEW.key FOR UPDATE;
      -- Behind the lock: whoever has the key now may have had it from the task of this id.
      IF NEW.id IS NOT NULL AND EXISTS (
        SELECT FROM ${books}.tasks t WHERE t.id = NEW.id UNION ALL SELECT FROM ${books}.ended_tasks e WHERE e.id = NEW.id) THEN
        is_granted := true;
        EXIT;
      END IF;
      IF FOUND AND NEW.on_conflict = 'replace' AND other.status IN ('Scheduled', 'Ready') THEN
        UPDATE ${books}.tasks t SET params = NEW.params, next_params = NULL, pool = NEW.pool, priority = NEW.priority, max_attempts = NEW.max_attempts,
          due_at = coalesce(NEW.start_at, ${books}.unacked_now()), status = new_status, failures = 0, crashes = 0, last_error = NULL
        WHERE t.id = other.id;
        done_id := other.id;
        is_granted := true;
      ELSIF FOUND THEN
        UPDATE ${books}.tasks t SET next_params = NEW.params WHERE t.id = other.id;
        done_id := other.id;
        is_granted := true;
      ELSE
        INSERT INTO ${books}.tasks (id, type, params, pool, priority, due_at, max_attempts, status, key)
        VALUES (coalesce(NEW.id, gen_random_uuid()), NEW.type, NEW.params, NEW.pool, NEW.priority, coalesce(NEW.start_at, ${books}.unacked_now()),
                NEW.max_attempts, new_status, NEW.key)
        ON CONFLICT DO NOTHING RETURNING tasks.id INTO created_id;
        is_granted := FOUND;
        -- As in unacked_create_task: while it waited for the id, its task may have ended.
        IF is_granted AND NEW.id IS NOT NULL AND EXISTS (SELECT FROM ${books}.ended_tasks e WHERE e.id = NEW.id) THEN
          DELETE FROM ${books}.tasks t WHERE t.id = created_id;
          created_id := NULL;
        END IF;
      END IF;
      EXIT WHEN is_granted;
    END LOOP;
    IF NOT is_granted THEN
      RAISE EXCEPTION 'unacked_create_task: the tasks that have the key % are over each time they are looked at', NEW.key
        USING ERRCODE = 'lock_not_available';
    END IF;
    IF created_id IS NOT NULL THEN
      INSERT INTO ${books}.task_figure_deltas (type, pool, created) VALUES (NEW.type, NEW.pool, 1);
      done_id := created_id;
    END IF;
    IF done_id IS NOT NULL THEN
      INSERT INTO ${books}.audit (id, actor, role, authentication, address, request_id, deed, count, targets, details)
      VALUES (gen_random_uuid(), session_user, 'operator', 'database', coalesce(host(inet_client_addr()), 'local'),
              'transaction ' || pg_current_xact_id(), 'task.create', 1,
              jsonb_build_array(jsonb_build_object('kind', 'task', 'id', done_id, 'name', NULL)), '{}');
    END IF;
    DELETE FROM ${books}.task_wishes w WHERE w.position = NEW.position;
    RETURN NULL;
  END $$`;

const GRANTED = `
  CREATE CONSTRAINT TRIGGER task_wishes_granted AFTER INSERT ON task_wishes
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION unacked_grant_task_wish()`;

export class TaskWishes0010 implements MigrationInterface {
  name = "TaskWishes1800000000010";

  async up(queryRunner: QueryRunner): Promise<void> {
    const [{ books }] = (await queryRunner.query("SELECT quote_ident(current_schema()) AS books")) as [{ books: string }];
    const create = [WISHES, grantIn(books), "REVOKE ALL ON FUNCTION unacked_grant_task_wish FROM PUBLIC", GRANTED];
    for (const statement of create) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const what of ["TABLE task_wishes", "FUNCTION unacked_grant_task_wish"]) await queryRunner.query(`DROP ${what}`);
  }
}
