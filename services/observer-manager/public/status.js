// Lists services and observers and keeps them up to date by server-sent events. Everything shown is set as text, never as HTML.

const MAX_ROWS = 500;
const STATUS_TONES = {
  Processing: "good",
  Completed: "good",
  Failed: "bad",
  Deleted: "",
  Alive: "good",
  Gone: "bad",
  Stopped: "",
};
const LIVING = ["Created", "Processing", "Retrying", "Redistributing", "OnDeleting", "Failed", "Completed"];
const STOPPABLE = ["Processing", "Retrying", "Redistributing", "Failed", "Completed"];
const FIGURES_EVERY_MS = 2_000;

const element = (id) => document.getElementById(id);
const observers = new Map();
const services = new Map();
let total = 0;
let generation = 0; // of the lists: an answer to an older question is dropped
let missed = null; // events that came while the lists were being read
let drawing = false;
let figuresStale = true;

async function getJson(path) {
  const response = await fetch(path, { headers: { accept: "application/json" } });
  if (!response.ok) throw new Error((await problemOf(response)).detail);
  return response.json();
}

async function problemOf(response) {
  return response.json().catch(() => ({ code: "", detail: `The manager answered ${response.status}.` }));
}

/** What the form asks for. */
function filter() {
  const data = new FormData(element("filter"));
  const status = String(data.get("status"));
  return { q: String(data.get("q")).trim(), statuses: status === "" ? LIVING : [status] };
}

async function readLists() {
  const mine = ++generation;
  const since = (missed = []);
  const { q, statuses } = filter();
  const query = new URLSearchParams({ limit: String(MAX_ROWS), status: statuses.join(",") });
  if (q !== "") query.set("q", q);
  const [page, list] = await Promise.all([getJson(`api/v1/observers?${query}`), getJson("api/v1/services")]);
  if (mine !== generation) return;
  replaceAll(observers, page.items);
  replaceAll(services, list.items);
  total = page.total;
  // What came while the lists were on their way may be newer than they are.
  missed = null;
  for (const apply of since) apply();
  say("");
  draw();
}

function replaceAll(map, items) {
  map.clear();
  for (const item of items) map.set(item.id, item);
}

function takeObserver(observer) {
  missed?.push(() => takeObserver(observer));
  const { q, statuses } = filter();
  const wanted = statuses.includes(observer.status) && observer.name.toLowerCase().includes(q.toLowerCase());
  const known = observers.has(observer.id);
  if (wanted && (known || observers.size < MAX_ROWS)) observers.set(observer.id, observer);
  if (wanted && !known) total += 1;
  if (!wanted && observers.delete(observer.id)) total -= 1;
  figuresStale = true;
  draw();
}

function takeService(service) {
  missed?.push(() => takeService(service));
  if (service.endedAt === null) services.set(service.id, service);
  else services.delete(service.id);
  figuresStale = true;
  draw();
}

/** At most once a frame, however many events come. */
function draw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    drawServices();
    drawObservers();
  });
}

function drawServices() {
  const rows = [...services.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  fill(element("services"), rows, "No service is alive: start an observer-service.", (service) => [
    cell(service.name),
    statusCell(service.state, service.state === "Suspect" ? "wait" : STATUS_TONES[service.state]),
    cell(service.pool),
    cell(`${runningOn(service)} of ${service.workerCount} in use`),
    cell(service.types.join(", "), "wrap"),
    cell(`${service.host} ${service.pid}`),
    timeCell(service.lastSeenAt),
  ]);
}

/** The event of a service does not follow every start: where all observers are listed, they tell. */
function runningOn(service) {
  const { q, statuses } = filter();
  if (q !== "" || statuses.length === 1 || total > observers.size) return service.running;
  return [...observers.values()].filter((observer) => observer.service?.id === service.id).length;
}

function drawObservers() {
  const rows = [...observers.values()].sort((a, b) => b.createdAt.localeCompare(a.createdAt) || b.id.localeCompare(a.id));
  element("observers-title").textContent =
    total > rows.length ? `Observers (${rows.length} of ${total})` : `Observers (${total})`;
  fill(element("observers"), rows, "No observer matches.", (observer) => [
    cell(observer.name, "wrap"),
    statusCell(observer.status, STATUS_TONES[observer.status] ?? "wait", errorOf(observer)),
    cell(observer.type),
    cell(observer.service?.name ?? "–"),
    cell(String(observer.epoch)),
    timeCell(observer.modifiedAt),
    stopCell(observer),
  ]);
}

const errorOf = (observer) =>
  observer.lastError === null ? "" : `${observer.lastError.name}: ${observer.lastError.message}`;

/** Rows are kept by id, so that focus and selection survive an update. */
function fill(body, items, whenEmpty, cellsOf) {
  const present = new Map([...body.children].map((row) => [row.dataset.id, row]));
  const rows = items.map((item) => {
    const text = JSON.stringify(item);
    const row = present.get(item.id);
    if (row !== undefined && row.shown === text) return row;
    const fresh = row ?? document.createElement("tr");
    const focused = fresh.contains(document.activeElement);
    fresh.dataset.id = item.id;
    fresh.shown = text;
    fresh.replaceChildren(...cellsOf(item));
    if (focused) fresh.querySelector("button")?.focus();
    return fresh;
  });
  if (rows.length === 0) rows.push(emptyRow(whenEmpty));
  if (rows.length === body.children.length && rows.every((row, index) => row === body.children[index])) return;
  const focused = document.activeElement;
  body.replaceChildren(...rows);
  if (focused instanceof HTMLElement && body.contains(focused)) focused.focus();
}

function emptyRow(text) {
  const row = document.createElement("tr");
  const only = cell(text, "none");
  only.colSpan = 7;
  row.append(only);
  return row;
}

function cell(text, className = "") {
  const made = document.createElement("td");
  made.textContent = text;
  made.className = className;
  if (className === "wrap") made.title = text;
  return made;
}

function statusCell(text, tone, hint = "") {
  const made = cell("");
  const label = document.createElement("span");
  label.textContent = text;
  label.className = `status ${tone}`;
  label.title = hint;
  made.append(label);
  return made;
}

function timeCell(iso) {
  const made = cell("");
  const time = document.createElement("time");
  time.dateTime = iso;
  time.textContent = new Date(iso).toLocaleTimeString();
  time.title = new Date(iso).toLocaleString();
  made.append(time);
  return made;
}

function stopCell(observer) {
  const made = cell("");
  const canForce = observer.status === "Created" || observer.status === "OnDeleting";
  if (!canForce && !STOPPABLE.includes(observer.status)) return made;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = canForce ? "Force stop" : "Stop";
  button.setAttribute("aria-label", `${button.textContent} ${observer.name}`);
  button.addEventListener("click", () => void stop(observer, button, canForce));
  made.append(button);
  return made;
}

async function stop(observer, button, force) {
  button.disabled = true;
  try {
    const response = await fetch(`api/v1/observers/${observer.id}${force ? "?force=true" : ""}`, { method: "DELETE" });
    if (response.ok) return say(`Stopping ${observer.name}.`);
    const problem = await problemOf(response);
    say(`${observer.name} was not stopped: ${problem.detail}. ${problem.remedy ?? ""}`);
  } catch (error) {
    say(`${observer.name} was not stopped: ${error.message}`);
  }
  button.disabled = false;
}

async function readFigures() {
  if (!figuresStale || document.hidden) return;
  figuresStale = false;
  const stats = await getJson("api/v1/stats");
  const { byStatus } = stats.observers;
  const used = stats.workers.total - stats.workers.free;
  const figures = [
    ["Workers in use", `${used} of ${stats.workers.total}`],
    ["Processing", byStatus.Processing],
    ["Waiting", byStatus.Created + byStatus.Redistributing],
    ["Retrying", byStatus.Retrying],
    ["Failed", byStatus.Failed],
    ["Survives a crash", stats.survivesLargestService ? "yes" : "no"],
  ];
  element("figures").replaceChildren(...figures.map(([term, value]) => figure(term, String(value))));
}

function refreshFigures() {
  readFigures().catch(() => (figuresStale = true)); // the next tick tries again
}

function figure(term, value) {
  const made = document.createElement("div");
  const name = document.createElement("dt");
  const text = document.createElement("dd");
  name.textContent = term;
  text.textContent = value;
  made.append(name, text);
  return made;
}

function say(text) {
  element("notice").textContent = text;
}

function showLink(state, text) {
  const link = element("link");
  if (link.dataset.state === state) return;
  link.dataset.state = state;
  link.textContent = text;
}

function reread() {
  readLists().catch((error) => say(error.message));
}

/** The stream is opened first and the lists are read once it is live: nothing can fall between. */
function follow() {
  const stream = new EventSource("api/v1/events");
  stream.addEventListener("ready", () => showLink("live", "live"));
  stream.addEventListener("ready", reread);
  stream.addEventListener("resync", reread);
  stream.addEventListener("observer", (event) => takeObserver(JSON.parse(event.data)));
  stream.addEventListener("service", (event) => takeService(JSON.parse(event.data)));
  stream.addEventListener("error", () => {
    showLink("lost", "connection lost, trying again");
    // A browser gives up for good after an answer that is no stream (503 from a proxy, say).
    if (stream.readyState === EventSource.CLOSED) setTimeout(follow, 2_000);
  });
}

element("filter").addEventListener("submit", (event) => event.preventDefault());
element("filter").addEventListener("input", reread);
document.addEventListener("visibilitychange", () => (figuresStale = true));
setInterval(refreshFigures, FIGURES_EVERY_MS);
refreshFigures();
follow();
