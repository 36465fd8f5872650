#!/bin/sh
# As PostgreSQL's image begins: an empty folder becomes a database, as the environment names it; then the server.
set -eu
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"
  chown -R postgres: "$PGDATA" /var/run/postgresql
  exec setpriv --reuid postgres --regid postgres --init-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  chmod 700 "$PGDATA"
  password=$(mktemp)
  printf '%s\n' "$POSTGRES_PASSWORD" > "$password"
  initdb --username="$POSTGRES_USER" --pwfile="$password"
  rm "$password"
  printf 'host all all all scram-sha-256\n' >> "$PGDATA/pg_hba.conf"
  pg_ctl -w -o "-c listen_addresses=''" start
  createdb --username "$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl -w -m fast stop
fi
exec "$@"
