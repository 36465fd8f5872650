/** The pages and their addresses; the manager answers exactly these with the page. */
export type Route =
  | { page: "overview" }
  | { page: "observers" }
  | { page: "observer"; ref: string }
  | { page: "tasks" }
  | { page: "task"; id: string }
  | { page: "flows" }
  | { page: "flow"; id: string }
  | { page: "schedules" }
  | { page: "schedule"; id: string }
  | { page: "timers" }
  | { page: "works" }
  | { page: "work"; id: string }
  | { page: "services" }
  | { page: "errors" }
  | { page: "audit" }
  | { page: "nowhere" };

export function routeOf(path: string): Route {
  const [, first = "", second = "", ...more] = path.replace(/(?<=.)\/$/, "").split("/");
  if (more.length > 0) return { page: "nowhere" };
  if (first === "observers" && second !== "") return { page: "observer", ref: decoded(second) };
  if (first === "tasks" && second !== "") return { page: "task", id: decoded(second) };
  if (first === "flows" && second !== "") return { page: "flow", id: decoded(second) };
  if (first === "schedules" && second !== "") return { page: "schedule", id: decoded(second) };
  if (first === "work") return second === "" ? { page: "works" } : { page: "work", id: decoded(second) };
  if (second !== "") return { page: "nowhere" };
  switch (first) {
    case "":
      return { page: "overview" };
    case "observers":
    case "tasks":
    case "flows":
    case "schedules":
    case "timers":
    case "services":
    case "errors":
    case "audit":
      return { page: first };
    default:
      return { page: "nowhere" };
  }
}

export const addressOfObserver = (ref: string): string => `/observers/${encodeURIComponent(ref)}`;

export const addressOfTask = (id: string): string => `/tasks/${encodeURIComponent(id)}`;

export const addressOfFlow = (id: string): string => `/flows/${encodeURIComponent(id)}`;

export const addressOfWork = (id: string): string => `/work/${encodeURIComponent(id)}`;

export const addressOfSchedule = (id: string): string => `/schedules/${encodeURIComponent(id)}`;

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // the manager will not find it, and the page will say so
  }
}
