/** The URL without its query and with its password replaced, fit for a log. */
export function redactUrl(url: string): string {
  if (!URL.canParse(url)) return "(not a URL)";
  const { protocol, username, password, host, pathname } = new URL(url);
  // "user:secret@host" parses too: as the scheme "user" and a path.
  if (host === "") return "(not a URL)";
  const login = password === "" ? username : `${username}:***`;
  return `${protocol}//${login === "" ? "" : `${login}@`}${host}${pathname}`;
}
