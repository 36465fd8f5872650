import { z } from "zod";
import { type RequestUsers, readRequestUsers } from "./domain/requests/request-users.ts";

const requestUsers = z.unknown().transform((given, context): RequestUsers => {
  const read = readRequestUsers(given);
  if ("users" in read) return read.users;
  for (const message of read.problems) context.addIssue({ code: "custom", message });
  return z.NEVER;
});

/** Who may ask for what over AMQP. */
export const RequestSettings = z.object({
  REQUEST_USERS: requestUsers
    .optional()
    .describe(
      'Users of the broker who may create tasks, and set timers, over AMQP, as JSON: `{"billing": {"role": "operator", "types": ["resize"], "pools": ["default"], "timers": ["billing."], "perMinute": 6000}}`; `*`: all types, pools, or timers, whose names else begin so. The same for all managers. Unset: nobody, and nothing is declared for it.',
    ),
});
