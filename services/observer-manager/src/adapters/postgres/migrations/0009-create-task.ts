import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * `unacked_create_task`: a task from an application's own transaction in this database, and so exactly if that commits
 * (docs/create-tasks.md, from your own transaction; docs/security.md says whom to let). It does what REST does with a create, but for a
 * look at which types live services have: nobody's transaction fails because a service is down. It locks no task: who met another task's
 * key would hold the lock of its row until he commits, and the end of that task, with all that is told behind it, would wait for
 * him. So `return` and `reject` only look, and what `replace` and `queue-latest` want is done as the transaction commits (0010-task-wishes.ts).
 *
 * SECURITY DEFINER: who calls it needs no right on any table, and only who is granted it may execute it. The books' schema is not in its path, and
 * what is of the books is named with it. Behind pg_catalog it would be no help: where arguments fit another function better (`jsonb_build_array(jsonb)`,
 * `text || xid8`), whoever may create that there (in `public` before PostgreSQL 15: anybody) had it run as the owner.
 * https://www.postgresql.org/docs/current/sql-createfunction.html#SQL-CREATEFUNCTION-SECURITY
 *
 * Not in a schema named `unacked`: to a role of that name, which is the usual one of a manager, that would become the first of its
 * search_path, and the next migration's tables would be made there.
 *
 * An id is what `z.uuid()` takes (RFC 9562: its versions and its variant, nil and max): `md5('order-17')::uuid` is none to clients and services, and its
 * task would not run. Of a task whose story has `edits` the books may not have what it was created with (the last five changes are
 * kept, with 16 KiB each): there type, key and pool tell whether a repeat is one.
 *
 * @param books the schema, quoted
 */
const functionIn = (books: string): string => `
  CREATE FUNCTION unacked_create_task(
    type text, params jsonb DEFAULT '{}', key text DEFAULT NULL, on_conflict text DEFAULT 'reject', priority integer DEFAULT 0,
    start_at timestamptz DEFAULT NULL, pool text DEFAULT 'default', max_attempts integer DEFAULT NULL, id uuid DEFAULT NULL,
    OUT task_id uuid, OUT outcome text)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  #variable_conflict use_column
  DECLARE
    new_status text := CASE WHEN unacked_create_task.start_at > ${books}.unacked_now() THEN 'Scheduled' ELSE 'Ready' END;
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
      WHEN unacked_create_task.start_at NOT BETWEEN '0001-01-01Z' AND '9999-12-31Z' THEN 'start_at: in the years 1 to 9999'
      WHEN unacked_create_task.max_attempts NOT BETWEEN 1 AND 1000 THEN 'max_attempts: 1 to 1000'
      WHEN unacked_create_task.id::text !~ '^(.{14}[1-8].{4}[89ab].*|[0-]*|[f-]*)$'
        THEN 'id: a UUID of RFC 9562, such as gen_random_uuid() makes, or uuid_generate_v5() of a name, and not any 128 bits'
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
      INSERT INTO ${books}.tasks (id, type, params, pool, priority, due_at, max_attempts, status, key)
      VALUES (coalesce(unacked_create_task.id, gen_random_uuid()), unacked_create_task.type, unacked_create_task.params, unacked_create_task.pool,
              unacked_create_task.priority, coalesce(unacked_create_task.start_at, ${books}.unacked_now()), unacked_create_task.max_attempts, new_status,
              unacked_create_task.key)
      ON CONFLICT DO NOTHING RETURNING tasks.id INTO unacked_create_task.task_id;
      IF task_id IS NOT NULL THEN
        outcome := 'created';
      END IF;
      IF unacked_create_task.id IS NOT NULL THEN
        -- An id that is among the ended already has had its task.
        SELECT t.type, t.pool, t.params, t.key, coalesce(t.story ? 'edits', false) AS is_edited INTO other
        FROM ${books}.ended_tasks t WHERE t.id = unacked_create_task.id LIMIT 1;
        is_there := FOUND;
        IF is_there THEN
          DELETE FROM ${books}.tasks t WHERE t.id = unacked_create_task.task_id;
        ELSIF task_id IS NULL THEN
          SELECT t.type, t.pool, t.params, t.key, coalesce(t.story ? 'edits', false) AS is_edited INTO other
          FROM ${books}.tasks t WHERE t.id = unacked_create_task.id;
          is_there := FOUND;
        END IF;
        IF is_there THEN
          IF other.type <> unacked_create_task.type OR other.key IS DISTINCT FROM unacked_create_task.key
             OR (other.key IS NULL AND (other.pool <> unacked_create_task.pool
                                        OR (NOT other.is_edited AND other.params <> unacked_create_task.params))) THEN
            RAISE EXCEPTION 'unacked_create_task: another task has the id %', unacked_create_task.id
              USING ERRCODE = 'unique_violation', CONSTRAINT = 'tasks_pkey';
          END IF;
          task_id := unacked_create_task.id;
          outcome := 'exists';
          RETURN;
        END IF;
      END IF;
      EXIT WHEN task_id IS NOT NULL;
      SELECT t.id, t.status INTO other FROM ${books}.tasks t WHERE t.type = unacked_create_task.type AND t.key = unacked_create_task.key;
      CONTINUE WHEN NOT FOUND; -- it is over meanwhile
      task_id := other.id;
      IF unacked_create_task.on_conflict = 'reject' THEN
        RAISE EXCEPTION 'unacked_create_task: the task % of the type % has the key %', other.id, unacked_create_task.type, unacked_create_task.key
          USING ERRCODE = 'unique_violation', CONSTRAINT = 'tasks_key';
      ELSIF unacked_create_task.on_conflict = 'return' THEN
        outcome := 'returned';
        RETURN;
      ELSE
        outcome := CASE WHEN unacked_create_task.on_conflict = 'replace' AND other.status IN ('Scheduled', 'Ready') THEN 'replaced' ELSE 'queued' END;
        SET CONSTRAINTS ${books}.task_wishes_granted DEFERRED; -- the caller may have said ALL IMMEDIATE
        INSERT INTO ${books}.task_wishes (type, key, on_conflict, id, params, pool, priority, start_at, max_attempts)
        VALUES (unacked_create_task.type, unacked_create_task.key, unacked_create_task.on_conflict, unacked_create_task.id,
                unacked_create_task.params, unacked_create_task.pool, unacked_create_task.priority, unacked_create_task.start_at,
                unacked_create_task.max_attempts);
      END IF;
      EXIT;
    END LOOP;
    IF outcome IS NULL THEN
      RAISE EXCEPTION 'unacked_create_task: the tasks that have this key are over each time they are looked at'
        USING ERRCODE = 'lock_not_available';
    END IF;
    IF outcome = 'created' THEN
      INSERT INTO ${books}.task_figure_deltas (type, pool, created) VALUES (unacked_create_task.type, unacked_create_task.pool, 1);
      INSERT INTO ${books}.audit (id, actor, role, authentication, address, request_id, deed, count, targets, details)
      VALUES (gen_random_uuid(), session_user, 'operator', 'database', coalesce(host(inet_client_addr()), 'local'),
              'transaction ' || pg_current_xact_id(), 'task.create', 1,
              jsonb_build_array(jsonb_build_object('kind', 'task', 'id', task_id, 'name', NULL)), '{}');
    END IF;
    PERFORM pg_notify('unacked_tasks', '');
  END $$`;

export class CreateTask0009 implements MigrationInterface {
  name = "CreateTask1800000000009";

  async up(queryRunner: QueryRunner): Promise<void> {
    const [{ books }] = (await queryRunner.query("SELECT quote_ident(current_schema()) AS books")) as [{ books: string }];
    await queryRunner.query(functionIn(books));
    await queryRunner.query("REVOKE ALL ON FUNCTION unacked_create_task FROM PUBLIC");
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("DROP FUNCTION unacked_create_task");
  }
}
