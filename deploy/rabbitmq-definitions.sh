#!/bin/sh
# Prints rabbitmq-definitions.json with the passwords of MANAGER_PASSWORD and SERVICE_PASSWORD in it, for RabbitMQ's
# `load_definitions`. They become part of an address, so only what needs no escaping there is taken.
set -eu

for name in MANAGER_PASSWORD SERVICE_PASSWORD; do
  eval "value=\${$name:-}"
  case $value in
    "") echo "$name is not set: the password of that user of RabbitMQ." >&2; exit 2 ;;
    *[!A-Za-z0-9._~-]*) echo "$name may have letters, digits and . _ ~ - alone: it becomes part of an address." >&2; exit 2 ;;
  esac
done

sed -e "s/\"MANAGER_PASSWORD\"/\"$MANAGER_PASSWORD\"/" -e "s/\"SERVICE_PASSWORD\"/\"$SERVICE_PASSWORD\"/" \
  "$(dirname "$0")/rabbitmq-definitions.json"
