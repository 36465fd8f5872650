#!/bin/sh
# As RabbitMQ's image begins: what it keeps is its user's, and it goes on as that user.
set -eu
if [ "$(id -u)" = 0 ]; then
  chown -R rabbitmq: /var/lib/rabbitmq
  exec setpriv --reuid rabbitmq --regid rabbitmq --init-groups "$0" "$@"
fi
export RUNNING_UNDER_SYSTEMD=true # so that the server becomes this very process, and signals reach it
exec "$@"
