import type { MigrationInterface, QueryRunner } from "typeorm";

/**
 * Observers counted by pool, type and status, so that nobody has to count a million rows. The table keeps them by triggers,
 * for every writer: each statement adds what it changed as rows of its own, since a row for each count would make every writer wait
 * for the one before. The sum is the count; FOLD in observer-counts.ts puts the rows together now and then.
 */
const COUNTS = [
  `CREATE TABLE observer_counts (pool text NOT NULL, type text NOT NULL, status text NOT NULL, count bigint NOT NULL)`,
  `CREATE FUNCTION count_added_observers() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
     INSERT INTO observer_counts SELECT pool, type, status, count(*) FROM added GROUP BY pool, type, status;
     RETURN NULL;
   END $$`,
  `CREATE FUNCTION count_removed_observers() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
     INSERT INTO observer_counts SELECT pool, type, status, -count(*) FROM removed GROUP BY pool, type, status;
     RETURN NULL;
   END $$`,
  `CREATE FUNCTION count_changed_observers() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
     INSERT INTO observer_counts SELECT pool, type, status, sum(by) FROM (
       SELECT pool, type, status, 1 AS by FROM added UNION ALL SELECT pool, type, status, -1 FROM removed
     ) change GROUP BY pool, type, status HAVING sum(by) <> 0;
     RETURN NULL;
   END $$`,
  `CREATE FUNCTION forget_observer_counts() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
     DELETE FROM observer_counts;
     RETURN NULL;
   END $$`,
  `CREATE TRIGGER observers_added AFTER INSERT ON observers REFERENCING NEW TABLE AS added
     FOR EACH STATEMENT EXECUTE FUNCTION count_added_observers()`,
  `CREATE TRIGGER observers_removed AFTER DELETE ON observers REFERENCING OLD TABLE AS removed
     FOR EACH STATEMENT EXECUTE FUNCTION count_removed_observers()`,
  `CREATE TRIGGER observers_recounted AFTER UPDATE ON observers REFERENCING OLD TABLE AS removed NEW TABLE AS added
     FOR EACH STATEMENT EXECUTE FUNCTION count_changed_observers()`,
  `CREATE TRIGGER observers_emptied AFTER TRUNCATE ON observers
     FOR EACH STATEMENT EXECUTE FUNCTION forget_observer_counts()`,
];

/**
 * The books. Two columns deserve a word:
 * - `changed_xid` is the transaction that last wrote the row. Readers follow changes by it, up to the oldest transaction
 *   of this database still running, so that none is overlooked because it committed late, and any manager can
 *   continue where another stopped.
 * - `commands` is the outbox and every timer in one table: what is to be sent, and when it is due.
 *
 * Every index of `observers` is written by every change of a row, as `changed_xid` is in one: each costs some 0.002 ms a change,
 * so those that only some rows need have only these. `runs.observer_id` is no foreign key: the writer of a run has locked its
 * observer, and the checks took as long as writing the runs.
 */
const UP = [
  `CREATE TABLE observers (
     id uuid PRIMARY KEY,
     name text NOT NULL,
     type text NOT NULL,
     params jsonb NOT NULL,
     labels jsonb NOT NULL,
     pool text NOT NULL,
     retry jsonb NOT NULL,
     status text NOT NULL,
     revision integer NOT NULL DEFAULT 1,
     epoch integer NOT NULL DEFAULT 0,
     current_run_id uuid,
     current_service_id uuid,
     attempts integer NOT NULL DEFAULT 0,
     last_error jsonb,
     error_group text,
     last_error_at timestamptz,
     next_attempt_at timestamptz,
     created_at timestamptz NOT NULL DEFAULT now(),
     modified_at timestamptz NOT NULL DEFAULT now(),
     changed_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
     CONSTRAINT status_is_known CHECK (status IN
       ('Created', 'Processing', 'Retrying', 'Redistributing', 'OnDeleting', 'Deleted', 'Failed', 'Completed')),
     CONSTRAINT error_has_a_group CHECK ((last_error IS NULL) = (error_group IS NULL)),
     CONSTRAINT revision_counts_from_one CHECK (revision >= 1),
     CONSTRAINT run_and_service_together CHECK ((current_run_id IS NULL) = (current_service_id IS NULL)),
     CONSTRAINT running_has_a_run CHECK (status NOT IN ('Processing', 'Retrying') OR current_run_id IS NOT NULL),
     CONSTRAINT only_living_have_a_run CHECK
       (current_run_id IS NULL OR status IN ('Processing', 'Retrying', 'OnDeleting'))
   )`,
  "CREATE UNIQUE INDEX observers_name_of_living ON observers (name) WHERE status <> 'Deleted'",
  "CREATE INDEX observers_name_of_deleted ON observers (name, created_at DESC) WHERE status = 'Deleted'",
  "CREATE INDEX observers_newest ON observers (created_at DESC, id DESC)",
  "CREATE INDEX observers_by_status ON observers (status, created_at DESC, id DESC)",
  "CREATE INDEX observers_by_attempts ON observers (attempts DESC, created_at DESC, id DESC)",
  "CREATE INDEX observers_by_error_group ON observers (error_group) WHERE error_group IS NOT NULL",
  "CREATE INDEX observers_by_labels ON observers USING gin (labels jsonb_path_ops) WHERE labels <> '{}'",
  "CREATE INDEX observers_on_service ON observers (current_service_id) WHERE current_service_id IS NOT NULL",
  "CREATE INDEX observers_deleted ON observers (modified_at) WHERE status = 'Deleted'",
  "CREATE INDEX observers_changed ON observers (changed_xid)",

  `CREATE TABLE runs (
     id uuid PRIMARY KEY,
     observer_id uuid NOT NULL,
     service_id uuid NOT NULL,
     generation integer NOT NULL,
     message_id uuid NOT NULL,
     revision integer NOT NULL,
     epoch integer NOT NULL,
     state text NOT NULL,
     started_at timestamptz NOT NULL,
     ended_at timestamptz,
     end_reason text,
     error jsonb,
     CONSTRAINT run_state_is_known CHECK (state IN ('Current', 'Superseded', 'Ended')),
     CONSTRAINT ended_has_time_and_reason CHECK
       ((state = 'Ended') = (ended_at IS NOT NULL) AND (state = 'Ended') = (end_reason IS NOT NULL))
   )`,
  "CREATE UNIQUE INDEX runs_of_observer ON runs (observer_id, epoch DESC)",
  "CREATE INDEX runs_ended ON runs (ended_at) WHERE state = 'Ended'",
  "CREATE INDEX runs_not_ended_on_service ON runs (service_id) WHERE state <> 'Ended'",

  `CREATE TABLE services (
     id uuid PRIMARY KEY,
     name text NOT NULL,
     pool text NOT NULL,
     state text NOT NULL,
     drain text NOT NULL DEFAULT 'none',
     generation integer NOT NULL,
     last_seq bigint NOT NULL,
     worker_count integer NOT NULL,
     running integer NOT NULL DEFAULT 0,
     types jsonb NOT NULL DEFAULT '[]',
     version text NOT NULL DEFAULT '',
     host text NOT NULL DEFAULT '',
     pid integer NOT NULL DEFAULT 0,
     heartbeat_ms integer NOT NULL DEFAULT 10000,
     memory_bytes bigint NOT NULL DEFAULT 0,
     event_loop_lag_ms double precision NOT NULL DEFAULT 0,
     started_at timestamptz NOT NULL DEFAULT now(),
     last_seen_at timestamptz NOT NULL DEFAULT now(),
     inventory_at timestamptz,
     broker_loss jsonb,
     ended_at timestamptz,
     end_reason text,
     changed_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
     CONSTRAINT service_state_is_known CHECK (state IN ('Alive', 'Suspect', 'Stopped', 'Gone')),
     CONSTRAINT drain_is_known CHECK (drain IN ('none', 'asked', 'begun')),
     CONSTRAINT ended_service_has_time CHECK ((state IN ('Stopped', 'Gone')) = (ended_at IS NOT NULL))
   )`,
  "CREATE INDEX services_by_name ON services (name)",
  "CREATE INDEX services_living ON services (pool) WHERE state IN ('Alive', 'Suspect')",
  "CREATE INDEX services_changed ON services (changed_xid)",

  `CREATE TABLE commands (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     kind text NOT NULL,
     observer_id uuid,
     revision integer,
     service_id uuid,
     generation integer,
     run_id uuid,
     message_id uuid,
     reason text,
     trace_context text,
     due_at timestamptz NOT NULL DEFAULT now(),
     sent_count integer NOT NULL DEFAULT 0,
     created_at timestamptz NOT NULL DEFAULT now(),
     CONSTRAINT command_kind_is_known CHECK (kind IN
       ('start', 'stop', 'stop-run', 'restart-run', 'report-inventory', 'probe', 'drain')),
     CONSTRAINT command_is_addressed CHECK (CASE
       WHEN kind IN ('start', 'stop') THEN observer_id IS NOT NULL AND revision IS NOT NULL
       WHEN kind = 'stop-run' THEN observer_id IS NOT NULL AND run_id IS NOT NULL AND message_id IS NOT NULL
         AND revision IS NOT NULL AND service_id IS NOT NULL AND generation IS NOT NULL AND reason IS NOT NULL
       WHEN kind = 'restart-run' THEN observer_id IS NOT NULL AND run_id IS NOT NULL
         AND service_id IS NOT NULL AND generation IS NOT NULL
       ELSE service_id IS NOT NULL AND generation IS NOT NULL END)
   )`,
  "CREATE UNIQUE INDEX commands_one_per_observer ON commands (observer_id, kind) WHERE kind IN ('start', 'stop')",
  "CREATE UNIQUE INDEX commands_one_per_run ON commands (run_id, kind) WHERE kind IN ('stop-run', 'restart-run')",
  `CREATE UNIQUE INDEX commands_one_per_generation ON commands (service_id, generation, kind)
     WHERE kind IN ('report-inventory', 'probe', 'drain')`,
  "CREATE INDEX commands_due ON commands (due_at, id)",

  `CREATE TABLE errors (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     message_id uuid UNIQUE,
     reason text NOT NULL,
     detail text NOT NULL,
     error_group text NOT NULL,
     queue text NOT NULL,
     observer_id uuid,
     run_id uuid,
     reporter text NOT NULL,
     body text NOT NULL,
     body_bytes integer NOT NULL,
     at timestamptz NOT NULL DEFAULT now()
   )`,
  "CREATE INDEX errors_by_group ON errors (reason, error_group, id DESC) INCLUDE (at)",
  "CREATE INDEX errors_by_time ON errors (at)",
  "CREATE INDEX errors_of_observer ON errors (observer_id) WHERE observer_id IS NOT NULL",

  `CREATE TABLE audit (
     id uuid PRIMARY KEY,
     at timestamptz NOT NULL DEFAULT now(),
     actor text NOT NULL,
     role text NOT NULL,
     authentication text NOT NULL,
     address text NOT NULL,
     request_id text NOT NULL,
     deed text NOT NULL,
     count integer NOT NULL,
     targets jsonb NOT NULL,
     details jsonb NOT NULL,
     CONSTRAINT role_is_known CHECK (role IN ('viewer', 'operator', 'admin')),
     CONSTRAINT authentication_is_known CHECK (authentication IN ('token', 'oidc', 'anonymous')),
     CONSTRAINT deed_was_done CHECK (count >= 1)
   )`,
  "CREATE INDEX audit_newest ON audit (at DESC, id DESC)",
  "CREATE INDEX audit_of_actor ON audit (actor, at DESC, id DESC)",
  "CREATE INDEX audit_of_request ON audit (request_id)",
  "CREATE INDEX audit_of_targets ON audit USING gin (targets jsonb_path_ops)",
];

const TABLES = ["audit", "errors", "commands", "services", "runs", "observers", "observer_counts"];
const FUNCTIONS = ["added", "removed", "changed"].map((what) => `count_${what}_observers`);
const DOWN = [
  ...TABLES.map((table) => `DROP TABLE ${table}`),
  ...[...FUNCTIONS, "forget_observer_counts"].map((name) => `DROP FUNCTION ${name}`),
];

export class Books0001 implements MigrationInterface {
  name = "Books1700000000001";

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of [...UP, ...COUNTS]) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}
