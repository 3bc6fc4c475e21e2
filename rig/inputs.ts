/** The operations of a client on a measurement, and how often each is drawn. */
import type { EtagVersion, Face, Input } from './model.ts';
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

const FACES: Face[] = ['rest', 'grpc'];

export function anyInput(random: Random, requisitions: number, faces = FACES): Input {
  const face = random.pick(faces);
  const kind = random.weighted(KINDS);
  if (kind === 'getMeasurement' || kind === 'listRequisitions' || kind === 'cancel') return { kind, face };
  const i = random.int(requisitions);
  if (kind === 'getRequisition') return { kind, face, i };
  // Half of the gRPC requests that can carry an etag carry none, as some gRPC clients do.
  const etag = face === 'grpc' && random.chance(0.5) ? 'empty' : random.pick(ETAGS);
  if (kind === 'refuse') return { kind, face, i, etag };
  const nonce = random.chance(0.9) ? 'right' : 'wrong';
  return { kind, face, i, etag, nonce, certificate: random.chance(0.96) ? 'own' : 'foreign' };
}
