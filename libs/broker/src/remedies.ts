import type { LossKind } from "./loss-kind.ts";

const CONSUMER_TIMEOUT_REMEDY =
  "This broker takes messages back that stay unacked for long (by default 30 minutes), which ends every job. " +
  "Set `consumer_timeout = 315360000000` in rabbitmq.conf on every node and restart it, " +
  "or, for connections made from then on, without a restart: " +
  "rabbitmqctl eval 'application:set_env(rabbit, consumer_timeout, 315360000000).'";

const CANCELLED_REMEDY =
  "Its queue was deleted or its node went down; it is declared again. If this repeats on RabbitMQ 4.3 or later with a quorum " +
  "queue, the broker takes back what stays unacked: set `consumer_timeout = 315360000000` in rabbitmq.conf.";

/** What the broker (or the system) says, and what the operator should do. The first match counts. */
const REMEDIES: readonly [pattern: RegExp, remedy: string][] = [
  [
    /inequivalent arg '.*' for (queue|exchange)/,
    "It exists with other arguments than this program has ever given it. Move what it is needed for elsewhere (observers to another pool), " +
      "or stop the programs that use it and move its messages away (for instance with a shovel), and delete it; it is declared again.",
  ],
  [/invalid arg '.*' for (queue|exchange)/, "This RabbitMQ version does not take that argument: leave it out."],
  [
    /Login was refused/,
    "Check user and password in the broker's URL. RabbitMQ lets `guest` in from its own machine only: elsewhere use another user (rabbitmqctl add_user, set_permissions).",
  ],
  [
    /refused to open the vhost|access to vhost .* refused|vhost .* not found/,
    "Create the vhost (rabbitmqctl add_vhost NAME) and let the user in " +
      "(rabbitmqctl set_permissions -p NAME USER '.*' '.*' '.*'), or correct the broker's URL.",
  ],
  [
    /ACCESS_REFUSED/,
    "Give the user that permission: rabbitmqctl set_permissions -p VHOST USER CONFIGURE WRITE READ. Which each program needs is in deploy/rabbitmq-definitions.json; a service with these few takes DECLARE_TOPOLOGY=false.",
  ],
  [/RESOURCE_LOCKED/, "Another connection holds that queue exclusively; it is free once that connection is gone."],
  [
    /no exchange '/,
    "It was deleted, or no manager has declared it yet: managers do so when they start and again every few seconds.",
  ],
  [/message size .* larger than/, "Raise `max_message_size` in rabbitmq.conf, or send less at once."],
  [
    /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/,
    "Start RabbitMQ, or correct host and port in the broker's URL.",
  ],
  [
    /self-signed certificate|unable to verify the first certificate|unable to get (local )?issuer certificate/,
    "The broker's certificate is signed by nobody whom this program trusts: give AMQP_TLS_CA_FILE the certificate (PEM) of who signed it.",
  ],
  [
    /ENOENT: no such file|EACCES: permission denied, open/,
    "Put the file where an AMQP_TLS_… setting says that it is, readable for this program.",
  ],
  [/certificate has expired/, "Renew the broker's certificate; or correct this machine's clock."],
  [
    /does not match certificate's altnames/,
    "Name the host in the broker's URL as its certificate does, or say which name it bears by AMQP_TLS_SERVER_NAME.",
  ],
  [
    /alert certificate required|alert handshake failure/,
    "The broker asks for a client certificate: give AMQP_TLS_CERT_FILE and AMQP_TLS_KEY_FILE, signed by who its cacertfile names.",
  ],
  [
    /alert (unknown ca|bad certificate|certificate expired|certificate unknown|unsupported certificate)/,
    "The broker refuses the client certificate: it has to be valid, and signed by who its cacertfile names.",
  ],
  [
    /Socket closed abruptly during opening handshake|Invalid frame|wrong version number/,
    "Check that the URL's port is RabbitMQ's AMQP port, and TLS on both sides or on none (amqps:// or amqp://).",
  ],
];

/** What the operator should do about it, if that is known. */
export function remedyFor(kind: LossKind, detail: string): string | undefined {
  if (kind === "consumer-timeout") return CONSUMER_TIMEOUT_REMEDY;
  if (kind === "consumer-cancelled") return CANCELLED_REMEDY;
  if (kind === "ended-by-owner") return undefined;
  return REMEDIES.find(([pattern]) => pattern.test(detail))?.[1];
}
