/** Where global-setup.ts puts what it makes of test/fixtures/observers; from the repository's root. */
export const OBSERVERS_DIR = "test/fixtures/dist/observers";
