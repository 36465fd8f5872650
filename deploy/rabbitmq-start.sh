#!/bin/sh
# Starts RabbitMQ's image with the users of rabbitmq-definitions.json, which rabbitmq-users.conf has it load at each start.
# Their passwords come from MANAGER_PASSWORD and SERVICE_PASSWORD.
set -eu

umask 077
definitions=/tmp/unacked-definitions.json
sh "$(dirname "$0")/rabbitmq-definitions.sh" > "$definitions"
chown rabbitmq: "$definitions" # the image begins as root, and goes on as this user
exec docker-entrypoint.sh rabbitmq-server
