/** Runs an agent in its own process, for tests that kill it: `node agentProcess.ts '<AgentJob>'`. */
import { createClient, createTrustStore } from '../../src/index.ts';
import {
  createAgent,
  type Events,
  type LiquidLegionsSettings,
  openEvents,
  openLedger,
  type ShareShuffleSettings,
} from '../../src/provider/index.ts';

export interface AgentJob {
  baseUrl: string;
  token: string;
  root: string;
  credentials: {
    name: string;
    certificate: string;
    privateKeyPem: string;
    /** The public and the private encryption keyset are in base64. */
    encryptionPublicKey: string;
    encryptionPrivateKey: string;
  };
  events: string;
  ledger: string;
  budget: { epsilon: number; delta: number; rho: number };
  /** The populations are unchecked, because JSON cannot hold the bytes of population fingerprints. */
  shareShuffle?: ShareShuffleSettings & { populations: 'unchecked' };
  liquidLegions?: LiquidLegionsSettings;
  /**
   * When the process ends itself, as `kill -9` would end it. `reading`: after the charge, before the agent reads the
   * events. `sending`: before the agent sends the result. If undefined, the process does not end itself.
   */
  dieBefore?: 'reading' | 'sending';
}

const job: AgentJob = JSON.parse(process.argv[2]!);
const bytes = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'));

const dieBefore = (moment: AgentJob['dieBefore']) => {
  if (job.dieBefore === moment) process.kill(process.pid, 'SIGKILL');
};
const dying: typeof fetch = (input, init) => {
  if (String(input).includes(':fulfillDirect')) dieBefore('sending');
  return fetch(input, init);
};

const events = openEvents({ files: job.events, threads: 1 }).then(
  (opened): Events => ({
    ...opened,
    frequencies: (...query) => {
      dieBefore('reading');
      return opened.frequencies(...query);
    },
    people: (...query) => {
      dieBefore('reading');
      return opened.people(...query);
    },
    allPeople: (...query) => {
      dieBefore('reading');
      return opened.allPeople(...query);
    },
  }),
);
const agent = createAgent({
  client: createClient({ baseUrl: job.baseUrl, token: job.token, fetch: dying }),
  credentials: {
    ...job.credentials,
    encryptionPublicKey: bytes(job.credentials.encryptionPublicKey),
    encryptionPrivateKey: bytes(job.credentials.encryptionPrivateKey),
  },
  trust: createTrustStore([{ pem: job.root }]),
  events: () => events,
  ledger: openLedger(job.ledger, job.budget),
  references: 'unchecked',
  served: new Set(['spring']),
  ...(job.shareShuffle && { shareShuffle: job.shareShuffle }),
  ...(job.liquidLegions && { liquidLegions: job.liquidLegions }),
  pollMs: 20,
  concurrency: 4,
  log: (event) => console.log(JSON.stringify(event)),
});
await agent.run(new AbortController().signal);
