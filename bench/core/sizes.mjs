/**
 * How much is measured.
 *
 * @typedef {object} Sizes
 * @property {number} crowd observers that most figures are about
 * @property {number} few observers of a second, smaller crowd; 0: none
 * @property {number} singles POSTs one by one
 * @property {number} onesAtRest creates at rest, one after the other, up to two seconds apart; of a peer as many
 * @property {number} atRest tasks at rest, one soon after the other
 * @property {number} loadS seconds of creates at a rate
 * @property {number} large observers on two services together
 * @property {number} idleS seconds of doing nothing, all runs together
 * @property {number} settleS seconds before these, until nothing of the start is left
 * @property {number} stateObservers observers of which two things each are told to the state queue
 * @property {number} posts POSTs one by one of the sustained rate
 * @property {number} tasks tasks that do nothing
 * @property {number} limitedTasks tasks with a limit, and without
 * @property {number} sustainedS seconds in which such tasks are created as fast as they are done
 * @property {number} ended tasks that are over before the next ones are measured
 * @property {number} peerIdleS seconds of doing nothing of a peer
 * @property {number} peerBudgetS a peer's runs of one setting are not repeated beyond this many seconds
 * @property {number} peerKillBudgetS the same of a killed worker, where one run may take a minute
 * @property {number} fleetServices services with slots of a fleet; five times as many without
 * @property {number[]} fleetCrowds observers of a fleet, from few to many
 * @property {number} patienceS longer is not waited for a killed worker's jobs
 */

/** @type {Sizes} */
const FULL = {
  crowd: 10_000,
  few: 1_000,
  singles: 1_000,
  onesAtRest: 50,
  atRest: 200,
  loadS: 5,
  large: 100_000,
  idleS: 60,
  settleS: 12,
  stateObservers: 50_000,
  posts: 5_000,
  tasks: 100_000,
  limitedTasks: 60_000,
  sustainedS: 60,
  ended: 5_000_000,
  peerIdleS: 30,
  peerBudgetS: 40,
  peerKillBudgetS: 150,
  fleetServices: 20,
  fleetCrowds: [1_000, 10_000, 30_000, 100_000],
  patienceS: 75,
};

/** The crowd is the same, so that ratios can be held against those of a whole run. @type {Sizes} */
const QUICK = {
  ...FULL,
  few: 0,
  onesAtRest: 15,
  atRest: 40,
  loadS: 1,
  large: 10_000,
  idleS: 6,
  settleS: 3,
  stateObservers: 20_000,
  posts: 2_000,
  tasks: 20_000,
  limitedTasks: 30_000,
  sustainedS: 10,
  ended: 200_000,
  peerIdleS: 5,
  peerBudgetS: 1,
  peerKillBudgetS: 1,
  fleetServices: 12,
  fleetCrowds: [1_000, 10_000],
};

/** @type {Sizes} */
const REHEARSAL = {
  crowd: 1_000,
  few: 100,
  singles: 100,
  onesAtRest: 3,
  atRest: 10,
  loadS: 1,
  large: 4_000,
  idleS: 4,
  settleS: 1,
  stateObservers: 2_000,
  posts: 200,
  tasks: 2_000,
  limitedTasks: 3_000,
  sustainedS: 2,
  ended: 10_000,
  peerIdleS: 2,
  peerBudgetS: 1,
  peerKillBudgetS: 1,
  fleetServices: 11,
  fleetCrowds: [200, 1_000],
  patienceS: 75,
};

/** @param {{ quick: boolean, rehearse: boolean }} options */
export const sizesOf = ({ quick, rehearse }) => (rehearse ? REHEARSAL : quick ? QUICK : FULL);

/** "10,000", wherever the reader is. @param {number} count */
export const counted = (count) => count.toLocaleString("en-US");
