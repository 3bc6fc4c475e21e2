/**
 * How often a test repeats something. `npm test` repeats it a tenth as often as `npm run stress`, which sets MEX_STRESS=1;
 * MEX_STRESS=20 repeats it twenty times as often as that.
 */
const stress = Number(process.env.MEX_STRESS ?? 0);

export const isStress = stress > 0;

/** `full` rounds under stress, otherwise `usual` ones. */
export function rounds(full: number, usual = Math.ceil(full / 10)): number {
  return isStress ? full * stress : usual;
}
