/** Parties: made, suspended and resumed by the operator, kept current by themselves. */
import {
  type DataProvider,
  type Duchy,
  ExchangeError,
  type Finding,
  type MeasurementConsumer,
  type PartyInput,
  type PartyState,
  type RequestOf,
  type ResponseOf,
  type SignedMessage,
} from '@measurement-exchange/contract';
import { usableCertificates } from '../database/certificates.ts';
import { type Transaction, uniqueViolation } from '../database/db.ts';
import {
  getParty as get,
  insertParty,
  listParties as list,
  lockParty,
  saveParty,
} from '../database/parties.ts';
import { type PartyKind, partyName } from '../domain/access.ts';
import { enforce, finding } from '../domain/findings.ts';
import {
  capabilitiesOf,
  newParty,
  type PartyRecord,
  partyNotFound,
  setState,
  updateParty as update,
} from '../domain/party.ts';
import { isSignedBy } from '../domain/signature.ts';
import { type Call, type Exchange, record } from './context.ts';
import { DEFAULT_PAGE_SIZE, type ListScope } from './paging.ts';
import { asValidated } from './views.ts';

type Party = MeasurementConsumer & DataProvider & Duchy;

const COLLECTIONS: Record<string, PartyKind> = {
  measurementConsumers: 'measurementConsumer',
  dataProviders: 'dataProvider',
  duchies: 'duchy',
};

function view(party: PartyRecord & { certificate?: string | undefined }): Party {
  const provider = party.name.startsWith('dataProviders/');
  return {
    name: party.name,
    displayName: party.displayName,
    state: party.state,
    certificate: party.certificate && `${party.name}/certificates/${party.certificate}`,
    publicKey: party.publicKey,
    capabilities: provider ? capabilitiesOf(party.protocols) : undefined,
    dataAvailabilityInterval: party.availability,
    createTime: party.createTime,
    updateTime: party.updateTime,
  };
}

export async function createParty(
  x: Exchange,
  call: Call,
  request: RequestOf<'createParty'>,
): Promise<ResponseOf<'createParty'>> {
  const kind = COLLECTIONS[request.path]!;
  const chosen = (request.query as Record<string, string | undefined>)[`${kind}Id`];
  const party = newParty(partyName(kind, chosen ?? x.newId()), request.body as PartyInput, x.clock());
  try {
    return await x.db.tx('createParty', async (tx) => {
      call.findings = party.publicKey === undefined ? [] : [unverified()];
      if (!request.validateOnly) enforce(x.checks, call.findings);
      await insertParty(tx, party);
      if (request.validateOnly) {
        tx.rollback();
        return asValidated(view(party), call.findings);
      }
      record(tx, call, 'createParty', { ...party, time: party.updateTime });
      return view(party);
    });
  } catch (error) {
    if (uniqueViolation(error) !== 'parties_pkey') throw error;
    throw new ExchangeError('PARTY_ALREADY_EXISTS', `${party.name} exists already.`, {
      metadata: { existing: party.name },
    });
  } finally {
    x.principalsChanged();
  }
}

export async function getParty(
  x: Exchange,
  _call: Call,
  { path: name }: RequestOf<'getParty'>,
): Promise<ResponseOf<'getParty'>> {
  const found = await get(x.db, name, x.clock());
  if (found === undefined) throw partyNotFound(name);
  return view(found);
}

export async function listParties(
  x: Exchange,
  _call: Call,
  { path: collection, query }: RequestOf<'listParties'>,
): Promise<ResponseOf<'listParties'>> {
  const scope: ListScope = ['listParties', collection];
  const after = x.pageTokens.read(scope, query.pageToken);
  const { items, more } = await list(x.db, collection, after, query.pageSize ?? DEFAULT_PAGE_SIZE, x.clock());
  const last = items.at(-1);
  return {
    [collection]: items.map(view),
    nextPageToken: more ? x.pageTokens.write(scope, { time: last!.createTime, id: last!.name }) : undefined,
  } as ResponseOf<'listParties'>;
}

export async function updateParty(
  x: Exchange,
  call: Call,
  request: RequestOf<'updateParty'>,
): Promise<ResponseOf<'updateParty'>> {
  const input = request.body as PartyInput;
  return change(x, call, 'updateParty', request.path, request.validateOnly, async (tx, before, now) => {
    const after = update(before, input, now);
    if (input.publicKey === undefined) return after;
    const certificates = await usableCertificates(tx, before.name, now);
    const signer = await signerOf(input.publicKey, certificates);
    call.findings = signer === undefined ? [unverified()] : [];
    if (!request.validateOnly) enforce(x.checks, call.findings);
    return { ...after, publicKeyCertificate: signer?.id };
  });
}

/** One after the other: the first that verifies ends the search, and a party may have many certificates. */
async function signerOf<C extends { x509Der: Uint8Array }>(
  key: SignedMessage,
  certificates: C[],
): Promise<C | undefined> {
  for (const certificate of certificates) if (await isSignedBy(key, certificate.x509Der)) return certificate;
  return undefined;
}

function unverified(): Finding {
  const message = 'No usable certificate of the party verifies the signature of its public key.';
  return finding('PUBLIC_KEY_SIGNATURE_INVALID', 'publicKey.signature', message);
}

export function suspendParty(x: Exchange, call: Call, request: RequestOf<'suspendParty'>) {
  return administer(x, call, 'suspendParty', request, 'SUSPENDED');
}

export function resumeParty(x: Exchange, call: Call, request: RequestOf<'resumeParty'>) {
  return administer(x, call, 'resumeParty', request, 'ACTIVE');
}

function administer(
  x: Exchange,
  call: Call,
  operation: string,
  { path, validateOnly }: { path: string; validateOnly: boolean },
  state: PartyState,
): Promise<Party> {
  return change(x, call, operation, path, validateOnly, async (_tx, before, now) =>
    setState(before, state, now),
  );
}

/** Locks, decides, saves what changed, and tells who answers for principals. */
function change(
  x: Exchange,
  call: Call,
  operation: string,
  name: string,
  validateOnly: boolean,
  decide: (tx: Transaction, before: PartyRecord, now: string) => Promise<PartyRecord>,
): Promise<Party> {
  const changed = x.db.tx(operation, async (tx) => {
    const now = x.clock();
    const before = await lockParty(tx, name, now);
    if (before === undefined) throw partyNotFound(name);
    const { certificate } = before;
    const after = await decide(tx, before, now);
    if (validateOnly) {
      tx.rollback();
      return asValidated(view({ ...after, certificate }), call.findings);
    }
    if (after.version !== before.version) {
      saveParty(tx, after);
      record(tx, call, operation, { ...after, time: after.updateTime });
    }
    return view({ ...after, certificate });
  });
  // Whatever came of it: where the outcome is not known, it may have been done.
  return changed.finally(x.principalsChanged);
}
