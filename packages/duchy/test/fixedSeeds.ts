import { createHash } from 'node:crypto';

/** Of a module that draws seeds, one that draws the same ones each time. */
export function withFixedSeeds(module: object): object {
  let drawn = 0;
  const newSeed = () => new Uint8Array(createHash('sha384').update(`seed ${drawn++}`).digest());
  return { ...module, newSeed };
}
