/**
 * Checks uploads for the share shuffle protocol. An upload is an encrypted share of a frequency vector, and the
 * encrypted seed of the other share.
 */
import { ConsentError } from '@measurement-exchange/consent';
import { opened, sealedLength, shareContext } from '@measurement-exchange/consent/sealing';
import { type duchyMessages, ExchangeError } from '@measurement-exchange/contract';
import { valuesPrefix } from '@measurement-exchange/mpc/shares/framing';
import type { Duchy } from '../../computations/context.ts';
import { configOf } from '../../computations/plan.ts';
import { mismatch } from '../../computations/rejections.ts';
import { readSecrets, type StoredComputation } from '../../database/index.ts';
import type { UploadRules } from '../protocol.ts';
import { asShares } from './asShares.ts';

const PROTOCOL = 'honestMajorityShareShuffle';
const MAX_SEED_BYTES = 8 * 1024;
const TERMS = ['firstWorker', 'secondWorker', 'aggregator', 'noiseMechanism', 'ringModulus'] as const;

export const upload: UploadRules = {
  dataLength: ({ registerCount }) => sealedLength(valuesPrefix(registerCount).length + registerCount),
  secretSeed,
  checked: (duchy, data, computation, requisition) => {
    const { view, registerCount } = computation;
    const share = openedShare(duchy, data, computation, requisition);
    return asShares(share, { registerCount, modulus: configOf(PROTOCOL, view).ringModulus });
  },
};

async function* openedShare(
  { db }: Duchy,
  data: AsyncIterable<Uint8Array>,
  { id }: StoredComputation,
  requisition: string,
): AsyncGenerator<Uint8Array> {
  const { privateKeyset } = await readSecrets(db, id);
  // If the computation ended during the upload, its secrets have been deleted.
  if (privateKeyset === undefined) {
    throw new ExchangeError('COMPUTATION_STATE_ILLEGAL', `The computation of ${requisition} is over.`);
  }
  try {
    yield* opened(privateKeyset, shareContext(requisition), data);
  } catch (error) {
    if (!(error instanceof ConsentError)) throw error;
    throw mismatch('data', 'must be a share, encrypted for the key that this duchy made for the computation');
  }
}

/**
 * Returns the encrypted seed. Throws if the seed is missing or too long. Also throws if the provider signed other
 * duchies, another noise mechanism, or another modulus than the config has.
 */
function secretSeed({ protocolData }: duchyMessages.Fulfillment, { view }: StoredComputation): Uint8Array {
  const config = configOf(PROTOCOL, view);
  const at = (field: string) => `fulfillment.${PROTOCOL}.${field}`;
  const data = protocolData.case === PROTOCOL ? protocolData.value : undefined;
  const seed = data?.secretSeed?.ciphertext;
  if (data === undefined || seed === undefined || seed.length === 0) {
    throw mismatch(at('secretSeed'), 'must be the encrypted seed');
  }
  if (seed.length > MAX_SEED_BYTES) {
    throw mismatch(at('secretSeed'), `must have at most ${MAX_SEED_BYTES} bytes`);
  }
  for (const term of TERMS) {
    if (data[term] !== config[term])
      throw mismatch(at(term), `must be ${config[term]}, as this duchy was told`);
  }
  return seed;
}
