/**
 * Requests that the exchange should accept. They follow rules that no schema states, such as ownership and matching
 * names.
 */
import { createRoot, issueLeaf } from '@measurement-exchange/sdk/identity';
import { DESCRIPTOR_SET } from '@measurement-exchange/testkit/callers/world';
import { fulfillment, measurementRequest, reportRequest } from '@measurement-exchange/testkit/requests';
import type { Random } from '../../random.ts';
import type { Speaker, State } from './state.ts';

export interface Filled {
  /** The resource in the path, if the template chose it. */
  name?: string;
  body: Record<string, unknown>;
  /** The nonces by provider. A create request has all of them, and a fulfillment has only the provider's own. */
  nonces?: Map<string, bigint>;
}

export interface Material {
  certificates: string[];
  roots: string[];
  /** This text is part of every ciphertext. */
  canary: string;
  /** Called with every nonce, so that the search for leaked secrets (canaries.ts) knows the nonce. */
  onNonce: (nonce: bigint) => void;
}

/**
 * Makes only a few certificates, because each takes milliseconds. Requests that register a certificate twice are
 * rejected, as they should be.
 */
export async function prepareMaterial(options: Pick<Material, 'canary' | 'onNonce'>): Promise<Material> {
  const root = await createRoot('Fuzz root', Date.now());
  const leaves = await Promise.all(
    Array.from({ length: 8 }, (_, i) => issueLeaf(root, `Fuzz ${i}`, Date.now())),
  );
  const others = await Promise.all(
    Array.from({ length: 4 }, (_, i) => createRoot(`Fuzz root ${i}`, Date.now())),
  );
  return {
    ...options,
    certificates: leaves.map(({ der }) => Buffer.from(der).toString('base64')),
    roots: [root, ...others].map(({ certificatePem }) => certificatePem),
  };
}

type Template = (state: State, speaker: Speaker, random: Random, material: Material) => Filled | undefined;

const eventGroup = (state: State, speaker: Speaker, random: Random) => ({
  measurementConsumer: random.pick(state.speakers.filter(({ kind }) => kind === 'measurementConsumer')).name,
  eventGroupReferenceId: random.id(),
  mediaTypes: ['VIDEO'],
  ...(random.chance(0.5) ? { attributes: [{ name: `a${random.id(4)}`, type: 'STRING' }] } : {}),
  ...(random.chance(0.5) ? { encryptedMetadata: readableMetadata(state, speaker, random) } : {}),
});

function readableMetadata(state: State, speaker: Speaker, random: Random): object | undefined {
  const name = state.nameOf(
    'dataProviders/*/eventGroupMetadataDescriptors/*',
    random.int(1_000),
    speaker.name,
  );
  if (name === undefined) return undefined;
  return {
    metadata: { eventGroupMetadataDescriptor: name, metadata: { '@type': 'type.googleapis.com/a.M' } },
  };
}

const party: Template = (_state, _speaker, random) => ({ body: { displayName: `Party ${random.id(4)}` } });
const nothing: Template = () => ({ body: {} });
const descriptor: Template = (_state, _speaker, random) => {
  const messageType = ['M', `N${random.int(9)}`].map((name) => ({ name }));
  const set = { file: [{ ...DESCRIPTOR_SET.file[0], messageType }] };
  return { body: { descriptorSet: random.chance(0.5) ? DESCRIPTOR_SET : set } };
};

export const TEMPLATES: Record<string, Template> = {
  createMeasurement(state, speaker, random, { canary, onNonce }) {
    if (speaker.party === undefined) return undefined;
    const providers = state.speakers.filter(({ kind }) => kind === 'dataProvider').map((one) => one.party!);
    const chosen = providers.filter((_, i) => i === random.int(providers.length) || random.chance(0.5));
    if (chosen.length === 0) chosen.push(providers[0]!);
    const nonces = chosen.map(() => random.uint64());
    nonces.forEach(onNonce);
    const body = measurementRequest(speaker.party, chosen, nonces);
    for (const entry of Object.values(body.dataProviders)) {
      entry.encryptedRequisitionSpec.ciphertext = Buffer.from(`${canary}${random.id(60)}`).toString('base64');
    }
    const encryptedQuestion = {
      ciphertext: Buffer.from(`${canary}${random.id(60)}`).toString('base64'),
      typeUrl: 'x/Question',
    };
    return {
      body: {
        ...body,
        measurementReferenceId: random.id(),
        ...(random.chance(0.5) ? { encryptedQuestion } : {}),
      },
      nonces: new Map(chosen.map(({ name }, i) => [name, nonces[i]!])),
    };
  },
  fulfillDirectRequisition(state, speaker, random, { canary }) {
    const open = speaker.party && state.takeOpen(speaker.name, random.int(1_000));
    if (open === undefined) return undefined;
    const body = fulfillment(speaker.party!, open, open.nonce);
    body.encryptedResult.ciphertext = Buffer.from(`${canary}${random.id(40)}`).toString('base64');
    return { name: open.name, body, nonces: new Map([[speaker.name, open.nonce]]) };
  },
  refuseRequisition(state, speaker, random) {
    const open = state.takeOpen(speaker.name, random.int(1_000));
    if (open === undefined) return undefined;
    return {
      name: open.name,
      body: { refusal: { justification: 'DECLINED', message: 'no' }, etag: open.etag },
    };
  },
  cancelMeasurement: nothing,
  batchGetMeasurements(state, speaker, random) {
    const names = Array.from({ length: 3 }, () =>
      state.nameOf('measurementConsumers/*/measurements/*', random.int(1_000), speaker.name),
    ).filter((name) => name !== undefined);
    return names.length === 0 ? undefined : { body: { names } };
  },
  createReport(state, speaker, random, { canary }) {
    const name = state.nameOf('measurementConsumers/*/measurements/*', random.int(1_000), speaker.name);
    const body = reportRequest(name === undefined ? [] : [name]);
    body.sealedDefinition.ciphertext = Buffer.from(`${canary}${random.id(60)}`).toString('base64');
    return { body };
  },
  createEventGroupMetadataDescriptor: descriptor,
  updateEventGroupMetadataDescriptor: descriptor,
  diffEventGroupMetadataDescriptor: descriptor,
  decodeMetadata: () => ({ body: { typeUrl: 'type.googleapis.com/a.M', value: '' } }),
  createEventGroup: (state, speaker, random) => ({ body: eventGroup(state, speaker, random) }),
  updateEventGroup: (state, speaker, random) => ({ body: eventGroup(state, speaker, random) }),
  batchCreateEventGroups: (state, speaker, random) => ({
    body: { requests: [1, 2].map(() => ({ eventGroup: eventGroup(state, speaker, random) })) },
  }),
  batchUpdateEventGroups(state, speaker, random) {
    const name = state.nameOf('dataProviders/*/eventGroups/*', random.int(1_000), speaker.name);
    return name === undefined
      ? undefined
      : { body: { requests: [{ eventGroup: { ...eventGroup(state, speaker, random), name } }] } };
  },
  createCertificate: (_state, _speaker, random, { certificates }) => ({
    body: { x509Der: random.pick(certificates) },
  }),
  createTrustedRoot: (_state, _speaker, random, { roots }) => ({ body: { x509Pem: random.pick(roots) } }),
  createPopulation: (_state, _speaker, random) => ({
    body: {
      vidRanges: [{ start: 1, end: 1 + random.int(1_000) }],
      modelLines: [random.id()],
      default: random.chance(0.5),
    },
  }),
  updatePopulation: (_state, _speaker, random) => ({
    body: { modelLines: [random.id()], default: random.chance(0.5) },
  }),
  revokeCertificate: () => ({ body: { revocationState: 'HOLD' } }),
  releaseCertificateHold: nothing,
  createParty: party,
  updateParty: party,
  suspendParty: nothing,
  resumeParty: nothing,
  createPrincipal: (state, _speaker, random) => ({
    body: {
      issuer: 'https://issuer.example',
      subject: random.id(),
      resource: random.pick([...state.guarded].filter((name) => name.split('/').length === 2)),
    },
  }),
};
