import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * `unacked_create_task`: a task from an application's own transaction in this database, and so exactly if that commits
 * (docs/tasks.md, from your own transaction; docs/security.md says whom to let). It does what REST does with a create, but for a
 * look at which types live services have: nobody's transaction fails because a service is down.
 *
 * SECURITY DEFINER: who calls it needs no right on any table. So its search_path is fixed, temporary tables last, and only who
 * is granted it may execute it. Not in a schema named `unacked`: to a role of that name, which is the usual one of a manager, that
 * would become the first of its search_path, and the next migration's tables would be made there.
 */
const functionOf = (books: string): string => `
  CREATE FUNCTION unacked_create_task(
    type text, params jsonb DEFAULT '{}', key text DEFAULT NULL, on_conflict text DEFAULT 'reject', priority integer DEFAULT 0,
    start_at timestamptz DEFAULT NULL, pool text DEFAULT 'default', max_attempts integer DEFAULT NULL, id uuid DEFAULT NULL,
    OUT task_id uuid, OUT outcome text)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, ${books}, pg_temp AS $$
  #variable_conflict use_column
  DECLARE
    new_status text := CASE WHEN unacked_create_task.start_at > unacked_now() THEN 'Scheduled' ELSE 'Ready' END;
    flaw text := CASE
      WHEN unacked_create_task.type IS NULL OR unacked_create_task.type !~ '^[A-Za-z0-9._-]{1,64}$' THEN 'type: 1 to 64 of A-Z a-z 0-9 . _ -'
      WHEN unacked_create_task.pool IS NULL OR unacked_create_task.pool !~ '^[A-Za-z0-9_-]{1,64}$' THEN 'pool: 1 to 64 of A-Z a-z 0-9 _ -'
      WHEN unacked_create_task.params IS NULL THEN 'params: not NULL; the JSON value null is ''null'''
      WHEN octet_length(unacked_create_task.params::text) > 262144 THEN 'params: at most 256 KiB'
      WHEN jsonb_path_exists(unacked_create_task.params, 'strict $.**{64 to last} ? (@.type() == "object" || @.type() == "array")')
        THEN 'params: nested deeper than 64 levels'
      WHEN jsonb_path_exists(unacked_create_task.params, 'strict $.** ? (@.type() == "number" && (@ > 1.7976931348623157e308 || @ < -1.7976931348623157e308))')
        THEN 'params: a number is too large'
      WHEN jsonb_path_exists(unacked_create_task.params, 'strict $.** ? (@.type() == "object").keyvalue() ? (@.key == "__proto__")')
        THEN 'params: the key __proto__ is not allowed'
      WHEN length(unacked_create_task.key) NOT BETWEEN 1 AND 255 THEN 'key: 1 to 255 characters'
      WHEN unacked_create_task.on_conflict IS NULL OR unacked_create_task.on_conflict NOT IN ('reject', 'return', 'replace', 'queue-latest')
        THEN 'on_conflict: reject, return, replace or queue-latest'
      WHEN unacked_create_task.priority IS NULL OR unacked_create_task.priority NOT BETWEEN -1000 AND 1000 THEN 'priority: -1000 to 1000'
      WHEN unacked_create_task.start_at NOT BETWEEN '0001-01-01' AND '9999-12-31' THEN 'start_at: in the years 1 to 9999'
      WHEN unacked_create_task.max_attempts NOT BETWEEN 1 AND 1000 THEN 'max_attempts: 1 to 1000'
    END;
    other record;
    is_there boolean;
  BEGIN
    IF flaw IS NOT NULL THEN
      RAISE EXCEPTION 'unacked_create_task: %', flaw USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- An older snapshot cannot see a task that has ended, or begun, meanwhile: an id might be used twice.
    IF (unacked_create_task.id IS NOT NULL OR unacked_create_task.key IS NOT NULL)
       AND current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
      RAISE EXCEPTION 'unacked_create_task: with an id or a key it needs the isolation level READ COMMITTED'
        USING ERRCODE = 'feature_not_supported', HINT = 'Create it in a transaction of that level, or without id and key.';
    END IF;
    FOR round IN 1..20 LOOP
      INSERT INTO tasks (id, type, params, pool, priority, due_at, max_attempts, status, key)
      VALUES (coalesce(unacked_create_task.id, gen_random_uuid()), unacked_create_task.type, unacked_create_task.params, unacked_create_task.pool,
              unacked_create_task.priority, coalesce(unacked_create_task.start_at, unacked_now()), unacked_create_task.max_attempts, new_status,
              unacked_create_task.key)
      ON CONFLICT DO NOTHING RETURNING tasks.id INTO unacked_create_task.task_id;
      IF task_id IS NOT NULL THEN
        outcome := 'created';
      END IF;
      IF unacked_create_task.id IS NOT NULL THEN
        -- An id that is among the ended already has had its task.
        SELECT t.type, t.pool, t.params, t.key INTO other FROM ended_tasks t WHERE t.id = unacked_create_task.id LIMIT 1;
        is_there := FOUND;
        IF is_there THEN
          DELETE FROM tasks t WHERE t.id = unacked_create_task.task_id;
        ELSIF task_id IS NULL THEN
          SELECT t.type, t.pool, t.params, t.key INTO other FROM tasks t WHERE t.id = unacked_create_task.id;
          is_there := FOUND;
        END IF;
        IF is_there THEN
          IF other.type <> unacked_create_task.type OR other.key IS DISTINCT FROM unacked_create_task.key
             OR (other.key IS NULL AND (other.pool <> unacked_create_task.pool OR other.params <> unacked_create_task.params)) THEN
            RAISE EXCEPTION 'unacked_create_task: another task has the id %', unacked_create_task.id
              USING ERRCODE = 'unique_violation', CONSTRAINT = 'tasks_pkey';
          END IF;
          task_id := unacked_create_task.id;
          outcome := 'exists';
          RETURN;
        END IF;
      END IF;
      EXIT WHEN task_id IS NOT NULL;
      SELECT t.id, t.status INTO other FROM tasks t WHERE t.type = unacked_create_task.type AND t.key = unacked_create_task.key FOR UPDATE;
      CONTINUE WHEN NOT FOUND; -- it is over meanwhile
      task_id := other.id;
      IF unacked_create_task.on_conflict = 'reject' THEN
        RAISE EXCEPTION 'unacked_create_task: the task % of the type % has the key %', other.id, unacked_create_task.type, unacked_create_task.key
          USING ERRCODE = 'unique_violation', CONSTRAINT = 'tasks_key';
      ELSIF unacked_create_task.on_conflict = 'return' THEN
        outcome := 'returned';
        RETURN;
      ELSIF unacked_create_task.on_conflict = 'replace' AND other.status IN ('Scheduled', 'Ready') THEN
        UPDATE tasks t SET params = unacked_create_task.params, next_params = NULL, pool = unacked_create_task.pool,
          priority = unacked_create_task.priority, max_attempts = unacked_create_task.max_attempts,
          due_at = coalesce(unacked_create_task.start_at, unacked_now()), status = new_status, failures = 0, last_error = NULL
        WHERE t.id = other.id;
        outcome := 'replaced';
      ELSE
        UPDATE tasks t SET next_params = unacked_create_task.params WHERE t.id = other.id;
        outcome := 'queued';
      END IF;
      EXIT;
    END LOOP;
    IF outcome IS NULL THEN
      RAISE EXCEPTION 'unacked_create_task: the tasks that have this key are over each time they are looked at'
        USING ERRCODE = 'lock_not_available';
    END IF;
    INSERT INTO audit (id, actor, role, authentication, address, request_id, deed, count, targets, details)
    VALUES (gen_random_uuid(), session_user, 'operator', 'database', coalesce(host(inet_client_addr()), 'local'),
            'transaction ' || pg_current_xact_id(), 'task.create', 1,
            jsonb_build_array(jsonb_build_object('kind', 'task', 'id', task_id, 'name', NULL)), '{}');
    PERFORM pg_notify('unacked_tasks', '');
  END $$`;

const KNOWN = (names: string[]): string[] => [
  "ALTER TABLE audit DROP CONSTRAINT authentication_is_known",
  `ALTER TABLE audit ADD CONSTRAINT authentication_is_known CHECK (authentication IN (${names.map((name) => `'${name}'`)}))`,
];
const BEFORE = ["token", "oidc", "anonymous", "broker"];

export class CreateTask0017 implements MigrationInterface {
  name = "CreateTask1795500000017";

  async up(queryRunner: QueryRunner): Promise<void> {
    const [{ books }] = (await queryRunner.query("SELECT quote_ident(current_schema()) AS books")) as [{ books: string }];
    const create = [
      functionOf(books),
      "REVOKE ALL ON FUNCTION unacked_create_task FROM PUBLIC",
      ...KNOWN([...BEFORE, "database"]),
    ];
    for (const statement of create) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const remove = [
      "DROP FUNCTION unacked_create_task",
      "DELETE FROM audit WHERE authentication = 'database'",
      ...KNOWN(BEFORE),
    ];
    for (const statement of remove) await queryRunner.query(statement);
  }
}
