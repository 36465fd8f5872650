import { problemTable } from "@unacked/contracts";

/** The beginning of the document: what holds for all calls. */
export const introduction = (): string => `An observer is a job without an end. You create it and stop it here; in between it
runs somewhere, and moves by itself when the process that runs it dies.

- **Bodies** are JSON, in UTF-8. An unknown key in a request is an error that names it. An answer may get new keys in a later
  version: ignore those that you do not know.
- **Times** are ISO 8601 in UTC. Durations have their unit in their name (\`everyMs\`).
- **\`{ref}\`** is an observer's name or its id. Where a word of the API stands in its place (\`POST /observers/stop\`), the
  word has the methods that are described, and all others are those of an observer of that name.
- **\`X-Request-Id\`** comes back on every answer and stands in the manager's log. Send your own, or get one.
- **Who may:** a manager that is configured so wants a token, \`Authorization: Bearer …\`, and each call says which role
  it needs: \`viewer\` looks, \`operator\` also creates, stops, restarts, retries and drains, \`admin\` may do everything.
- **HEAD** answers every GET without the body. A method that a path does not have is answered 405 with \`Allow\`.
- **To try again** is safe for every call but a \`POST /observers\` or \`POST /tasks\` without an \`id\` of your own; and after a
  \`POST /tasks/take\` without an answer what it took is nobody's until its lease is over.

## Problems

Whatever is not done is answered with \`application/problem+json\` (RFC 9457). The \`code\` is stable, texts may change.

<details><summary>Every code, and what to do</summary>

${problemTable()}

</details>
`;
