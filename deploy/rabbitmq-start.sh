#!/bin/sh
# Starts RabbitMQ's image with the users of rabbitmq-definitions.json, which rabbitmq-users.conf has it load at each start.
# Their passwords come from MANAGER_PASSWORD and SERVICE_PASSWORD.
set -eu

umask 077
definitions=/tmp/unacked-definitions.json
# That of the container's start before is not written into: it is another user's in a sticky folder, which kernels refuse even root
# (fs.protected_regular, https://docs.kernel.org/admin-guide/sysctl/fs.html#protected-regular; systemd sets it).
rm -f "$definitions"
sh "$(dirname "$0")/rabbitmq-definitions.sh" > "$definitions"
chown rabbitmq: "$definitions" # the image begins as root, and goes on as this user
exec docker-entrypoint.sh rabbitmq-server
