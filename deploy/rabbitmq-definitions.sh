#!/bin/sh
# Prints rabbitmq-definitions.json with the passwords of MANAGER_PASSWORD and SERVICE_PASSWORD in it, for RabbitMQ's
# `load_definitions`. They become part of an address, so only what needs no escaping there is taken. Without REQUESTER_PASSWORD
# its user has none, and cannot come in.
set -eu

for name in MANAGER_PASSWORD SERVICE_PASSWORD REQUESTER_PASSWORD; do
  eval "value=\${$name:-}"
  case $name$value in
    REQUESTER_PASSWORD) continue ;;
  esac
  case $value in
    "") echo "$name is not set: the password of that user of RabbitMQ." >&2; exit 2 ;;
    *[!A-Za-z0-9._~-]*) echo "$name may have letters, digits and . _ ~ - alone: it becomes part of an address." >&2; exit 2 ;;
  esac
done

if [ -n "${REQUESTER_PASSWORD:-}" ]; then requester="\"password\": \"$REQUESTER_PASSWORD\""; else requester='"password_hash": ""'; fi

sed -e "s/\"MANAGER_PASSWORD\"/\"$MANAGER_PASSWORD\"/" -e "s/\"SERVICE_PASSWORD\"/\"$SERVICE_PASSWORD\"/" \
  -e "s/\"password\": \"REQUESTER_PASSWORD\"/$requester/" \
  "$(dirname "$0")/rabbitmq-definitions.json"
