import { gt, valid } from "semver";

/** Not `v1.2.3`, nor `1.2.3+BUILD`: npm drops that, and a tag of an image has no place for it. @param {string} text */
export const isVersion = (text) => valid(text) === text;

/** @param {string} version @param {string} other both are versions */
export const isGreater = (version, other) => gt(version, other);
