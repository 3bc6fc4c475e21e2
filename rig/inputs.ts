/** The operations of a client on a measurement, and how often each is drawn. */
import type { EtagVersion, Input } from './model.ts';
import type { Random } from './random.ts';

const KINDS = {
  getMeasurement: 20,
  listRequisitions: 10,
  getRequisition: 20,
  fulfill: 42,
  refuse: 5,
  cancel: 3,
};
const ETAGS: EtagVersion[] = [0, 1, 1, 1, 1, 1, 1, 1, 2, 2];

export function anyInput(random: Random, requisitions: number): Input {
  const kind = random.weighted(KINDS);
  if (kind === 'getMeasurement' || kind === 'listRequisitions' || kind === 'cancel') return { kind };
  const i = random.int(requisitions);
  if (kind === 'getRequisition') return { kind, i };
  const etag = random.pick(ETAGS);
  if (kind === 'refuse') return { kind, i, etag };
  const nonce = random.chance(0.9) ? 'right' : 'wrong';
  return { kind, i, etag, nonce, certificate: random.chance(0.96) ? 'own' : 'foreign' };
}
