/** Folders of test/fixtures of which global-setup.ts makes JavaScript. */
export const COMPILED = [
  "admitted",
  "blocking-tasks",
  "edge-tasks",
  "flow-tasks",
  "handler-tasks",
  "hungry",
  "limited-tasks",
  "observers",
  "tasks",
] as const;

/** Where that is; from the repository's root. */
export const compiled = (folder: (typeof COMPILED)[number]): string => `test/fixtures/dist/${folder}`;

export const OBSERVERS_DIR = compiled("observers");
