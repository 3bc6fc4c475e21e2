/** Sets up a provider with events, an exchange with one requisition, and a duchy that receives uploads over HTTP. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExchangeError, Refusal, Requisition } from '@measurement-exchange/contract';
import {
  type Behavior,
  type FakeDuchy,
  openUpload,
  type ReceivedUpload,
  replies,
  startFakeDuchy,
} from '@measurement-exchange/testkit/fakeDuchy';
import type { ExchangeClient } from '../../src/index.ts';
import {
  type AgentEvent,
  type AgentOptions,
  createAgent,
  type Events,
  type Ledger,
  openEvents,
  openLedger,
} from '../../src/provider/index.ts';
import { keysOf, NOW, PROVIDER } from './requisitions.ts';
import {
  ALPHA,
  createDuchyWorld,
  type DuchyWorld,
  type SpoiledComputation,
  spoiledComputation,
} from './shareShuffleRequisitions.ts';

/** Person v of 1 … 12 has v events. Persons 11 and 12 are not in the population 1 … 10. */
const EVENTS = Array.from({ length: 12 }, (_, i) => i + 1).flatMap((vid) =>
  Array.from({ length: vid }, (_, n) => `${vid},2026-07-0${1 + (n % 3)} 12:00:00,spring`),
);
/** The order of the VIDs 1 … 10, as the reference system publishes it. */
export const ORDER = [4, 9, 10, 5, 3, 6, 8, 2, 7, 1];
const BUDGET = { epsilon: 10, delta: 1e-3, rho: 10 };

/** The results of an agent's `once` for a requisition that was closed, and for one that is still open. */
export const CLOSED = { handled: 1, failed: 0 };
export const OPEN = { handled: 0, failed: 1 };

/** An exchange with one requisition. The requisition is fulfilled when the duchy has stored an upload. */
export interface Scripted {
  requisition: Requisition;
  refusals: Refusal[];
  /** A client of this exchange. It cannot follow changes, so agents poll. */
  client: ExchangeClient;
  agent(changes?: Partial<AgentOptions>): ReturnType<typeof createAgent>;
  /** The agent's settings for share shuffle, with a timeout of two seconds for uploads. */
  shareShuffle: NonNullable<AgentOptions['shareShuffle']>;
  capabilities: object[];
}

export interface ShareWorld extends DuchyWorld {
  duchy: FakeDuchy;
  directory: string;
  events: Events;
  /** The ledger and the folder of the current test. */
  ledger: Ledger;
  folder: string;
  log: AgentEvent[];
  /**
   * Prepares a test: creates a new ledger and an empty log. The folder keeps the VID order from earlier tests, but no
   * shares.
   */
  begin(): void;
  /** Ends a test, and returns the faults of its ledger. */
  end(): Promise<string[]>;
  /** Closes and reopens the ledger, as a new process would. */
  reopen(): void;
  scripted(spoiled?: SpoiledComputation): Promise<Scripted>;
  /** Returns the types of all logged events except progress. */
  types(): string[];
  /** Returns the names of the files with shares that were not sent yet. */
  shares(): Promise<string[]>;
  /** Decrypts an upload with the keys of both workers. */
  opened(upload: ReceivedUpload, modulus?: number): ReturnType<typeof openUpload>;
  stop(): Promise<void>;
}

export async function startShareWorld(): Promise<ShareWorld> {
  const [made, duchy] = await Promise.all([createDuchyWorld(), startFakeDuchy()]);
  const directory = await mkdtemp(join(tmpdir(), 'mex-shares-'));
  const files = join(directory, 'events.csv');
  await writeFile(files, `vid,timestamp,event_group\n${EVENTS.join('\n')}\n,2026-07-01 12:00:00,spring\n`);
  const events = await openEvents({ files, threads: 1 });
  let runs = 0;
  const ledgerPath = () => join(directory, `ledger-${runs}.sqlite`);
  const world: ShareWorld = {
    ...made,
    duchy,
    directory,
    events,
    ledger: undefined as never,
    folder: '',
    log: [],
    begin() {
      duchy.uploads = [];
      duchy.next = [];
      runs++;
      world.log = [];
      world.folder = join(directory, 'folder');
      world.ledger = openLedger(ledgerPath(), BUDGET);
    },
    async end() {
      const faults = world.ledger.audit();
      world.ledger.close();
      // Remove only the shares. Keep the order of the population's VIDs, because computing the order again would need a
      // thread.
      await rm(join(world.folder, 'shares'), { recursive: true });
      return faults;
    },
    reopen() {
      world.ledger.close();
      world.ledger = openLedger(ledgerPath(), BUDGET);
    },
    scripted: (spoiled) => scripted(world, spoiled),
    types: () => world.log.map(({ type }) => type).filter((type) => type !== 'progress'),
    shares: () => readdir(join(world.folder, 'shares')),
    opened: (upload, modulus) =>
      openUpload(upload, {
        provider: made.provider.certificatePem,
        worker: made.workerKeys.privateKeyset,
        peer: made.peerKeys.privateKeyset,
        modulus,
      }),
    async stop() {
      await events.close();
      await duchy.close();
      await rm(directory, { recursive: true });
    },
  };
  return world;
}

async function scripted(world: ShareWorld, spoiled: SpoiledComputation = {}): Promise<Scripted> {
  const { draft, context, settings, fetchPopulation } = await spoiledComputation(world, spoiled);
  const { duchy } = world;
  const requisition = await world.requisition(draft);
  const { fetchCertificate, fetchEventGroup, trust, references } = world.context(context);
  const refusals: Refusal[] = [];
  const capabilities: object[] = [];
  duchy.onStored = () => {
    requisition.state = 'FULFILLED';
  };
  const client = {
    async *listRequisitions() {
      if (requisition.state === 'UNFULFILLED') yield { ...requisition };
    },
    getRequisition: async () => ({ ...requisition }),
    getCertificate: ({ name }: { name: string }) => fetchCertificate(name),
    getEventGroup: ({ name }: { name: string }) => fetchEventGroup(name),
    getPopulation: ({ name }: { name: string }) => fetchPopulation(name),
    getParty: async ({ name }: { name: string }) =>
      name === ALPHA ? { name, state: 'ACTIVE', endpoint: duchy.endpoint } : { name, state: 'ACTIVE' },
    updateParty: async ({ body }: { body: { capabilities: object } }) => capabilities.push(body.capabilities),
    async refuseRequisition({ body }: { body: { refusal: Refusal } }) {
      refusals.push(body.refusal);
      requisition.state = 'REFUSED';
      return { ...requisition };
    },
  } as unknown as ExchangeClient;
  const shareShuffle = { ...settings!, folder: world.folder, allowHttp: true, uploadTimeoutSeconds: 2 };
  return {
    requisition,
    shareShuffle,
    refusals,
    capabilities,
    client,
    agent: (changes) =>
      createAgent({
        client,
        credentials: {
          ...keysOf(world.provider),
          name: PROVIDER,
          certificate: `${PROVIDER}/certificates/c1`,
          privateKeyPem: world.provider.privateKeyPem,
        },
        trust,
        references,
        events: world.events,
        ledger: world.ledger,
        shareShuffle,
        clock: { now: () => NOW, sleep: async () => {} },
        log: (event) => world.log.push(event),
        ...changes,
      }),
  };
}

export const frequencySpec = (maximumFrequency: number): SpoiledComputation => {
  const params = { epsilon: 0.5, delta: 1e-9 };
  const value = { reachPrivacyParams: params, frequencyPrivacyParams: params, maximumFrequency };
  return { spec: { measurementType: { case: 'reachAndFrequency', value } } };
};

/** A duchy that responds with this error in the format of the exchange. */
export const responds = (error: ExchangeError): Behavior =>
  replies(error.httpStatus, JSON.stringify(error), { 'content-type': 'application/json' });
