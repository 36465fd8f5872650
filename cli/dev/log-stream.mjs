import { decodeLogLine, isSerious, reasonOf } from "../../scripts/start/log-lines.mjs";

/** pino's names, or its numbers. @type {Record<string, string>} */
const SHOUTED = { warn: "WARN  ", error: "ERROR ", fatal: "ERROR ", 40: "WARN  ", 50: "ERROR ", 60: "ERROR " };
const ALWAYS = "dev";

/**
 * Makes one stream of the lines of all programs: each with its source, which is the program, or of what an observer says its type
 * and name, of a task its type and the end of its id.
 *
 * @param {{ only: readonly string[], write: (text: string) => void }} options `only`: sources (`manager`, `service`) and types;
 *   none: everything but the requests that the manager has answered well
 */
export function logStream({ only, write }) {
  /** By program: its last line, if that was a warning of its own. @type {Map<string, string>} */
  const warned = new Map();
  return {
    /** What a program warns of again and again (each of its connections that it cannot connect) is shown once. @param {string} program @param {string} line */
    take(program, line) {
      const shown = shownLine(program, line, only);
      if (shown === null || warned.get(program) === shown) return;
      warned.delete(program);
      if (isSerious(decodeLogLine(line)) && shown.startsWith(prefixOf(program))) warned.set(program, shown);
      write(shown);
    },
    /** What `unacked dev` itself says. @param {string} text */
    say(text) {
      write(prefixed(ALWAYS, text));
    },
  };
}

/**
 * @param {string} program
 * @param {string} line
 * @param {readonly string[]} only
 * @returns {string | null} null: it is not asked for
 */
export function shownLine(program, line, only) {
  const entry = decodeLogLine(line);
  const type = typeof entry?.type === "string" ? entry.type : null;
  const isAsked = only.length === 0 ? !isRoutine(entry) : only.includes(program) || (type !== null && only.includes(type));
  if (!isAsked || line.trim() === "") return null;
  if (entry === null) return prefixed(program, line);
  const name = nameOf(entry);
  const source = type === null || name === undefined ? program : `${type}/${name}`;
  const reason = isSerious(entry) && source === program ? reasonOf(entry) : "";
  return prefixed(
    source,
    `${SHOUTED[String(entry.level)] ?? ""}${textOf(entry, source === program)}${reason === "" ? "" : `: ${reason}`}`,
  );
}

/** @param {Record<string, any> | null} entry */
const isRoutine = (entry) => entry?.msg === "Answered" && Number(entry.status) < 400;

/** Whose line it is: an observer's name, the end of a task's id, or how many tasks one call is for. @param {Record<string, any>} entry */
function nameOf({ observer, task, tasks, name }) {
  if (typeof task === "string") return task.slice(-6);
  if (typeof tasks === "number") return `${tasks} tasks`;
  return [observer, name].find((one) => typeof one === "string");
}

/** The fields by which a program says where and why, beside its message. */
const WHERE = ["file", "type", "reason", "why", "names", "fact"];

/** @param {Record<string, any>} entry @param {string} message @param {boolean} isPrograms the source does not say the type */
function whereOf(entry, message, isPrograms) {
  const parts = WHERE.flatMap((key) => {
    const value = Array.isArray(entry[key]) ? entry[key].join(", ") : entry[key];
    const isSaid = (key === "type" && !isPrograms) || typeof value !== "string" || message.includes(value);
    return isSaid ? [] : [`${key} ${value}`];
  });
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

/** Where an author's code threw it, without Node's own. @param {unknown} stack */
const framesOf = (stack) =>
  String(stack ?? "")
    .split("\n")
    .filter((frame) => /^\s*at /.test(frame) && !frame.includes("node:"))
    .map((frame) => `\n    ${frame.trim()}`)
    .join("");

/** The message, what says where, and what an author has logged beside it. @param {Record<string, any>} entry @param {boolean} isPrograms */
function textOf(entry, isPrograms) {
  const { msg, fields, error, stack, err } = entry;
  const message = String(msg ?? "");
  const where = whereOf(entry, message, isPrograms);
  const said = fields !== undefined && Object.keys(fields).length > 0 ? ` ${JSON.stringify(fields)}` : "";
  const thrown = error ?? err;
  const wrong =
    typeof thrown === "object" && thrown !== null ? `${thrown.name ?? thrown.type ?? "Error"}: ${thrown.message}` : thrown;
  const isNew = typeof wrong === "string" && !message.includes(wrong);
  const thrownAt = typeof stack === "string" ? `\n${stack}` : framesOf(error?.stack);
  return `${message}${where}${said}${isNew ? `: ${wrong}` : ""}${thrownAt}`;
}

/** Each line of it. @param {string} source @param {string} text */
const prefixed = (source, text) =>
  text
    .split("\n")
    .map((line) => `${prefixOf(source)}${line}\n`)
    .join("");

/** @param {string} source */
const prefixOf = (source) => `${source.padEnd(9)} | `;
