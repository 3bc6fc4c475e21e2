/**
 * Deliberate bugs, one of which a development exchange can be started with (MEX_PLANTED_BUG), so that the rig can
 * show that it would find each of them. Production refuses to start with the variable set (production/process.ts).
 */

/** Where a bug needs more than its line in the code, the rig takes a guard out of its own database, too. */
export const PLANTED_BUGS = [
  'no-parent-lock',
  'etag-from-time',
  'etag-outside-transaction',
  'request-id-not-unique',
  'withdraw-overwrites-fulfilled',
  'answer-before-commit',
  'retry-after-unknown-commit',
  'page-token-unbound',
  'nonce-through-number',
  'foreign-certificate',
  'lookup-before-authorization',
  'synchronous-commit-off',
  'read-cache',
  'second-requisition-on-retry',
  'authorization-logged',
] as const;

export type PlantedBug = (typeof PLANTED_BUGS)[number];

/** Read once, before anything is served; undefined in every exchange that is not under test. */
export const plantedBug = process.env.MEX_PLANTED_BUG as PlantedBug | undefined;

/** Says so where nobody can overlook it. A name that is none would plant nothing, and the rig would find nothing. */
export function announcePlantedBug(warn: (message: string) => void): void {
  if (plantedBug === undefined) return;
  if (!PLANTED_BUGS.includes(plantedBug)) {
    throw new Error(`MEX_PLANTED_BUG must be one of ${PLANTED_BUGS.join(', ')}.`);
  }
  warn(`PLANTED BUG: ${plantedBug}. This exchange is broken on purpose.`);
}
