/** Runs an agent on a running exchange. Each test gets a new ledger. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Measurement } from '@measurement-exchange/contract';
import { type ProviderWorld, startProviderWorld } from '@measurement-exchange/testkit/providerWorld';
import {
  type Agent,
  type AgentEvent,
  type AgentOptions,
  createAgent,
  type Events,
  type Ledger,
  openEvents,
  openLedger,
  type PrivacyAmount,
} from '../../src/provider/index.ts';

/** Privacy parameters with an epsilon so large that the noise is negligible. */
export const EXACT = { epsilon: 1e5, delta: 0 };

/** A clock that runs 20 times as fast, so that waits are short. */
const BEGAN = Date.now();
const clock: AgentOptions['clock'] = {
  now: () => BEGAN + (Date.now() - BEGAN) * 20,
  sleep: (ms, signal) => sleep(ms / 20, undefined, signal && { signal }),
};

export interface AgentWorld extends Omit<ProviderWorld, 'events'> {
  events: Events;
  /** The ledger and the log of the current test. */
  ledger: Ledger;
  log: AgentEvent[];
  /** Prepares a test: creates a new ledger and an empty log. */
  begin(): void;
  /** Ends a test, and returns the faults of its ledger. */
  end(): string[];
  /** Opens the ledger again with another budget. */
  reopen(budget: PrivacyAmount): void;
  /** Returns the path of the ledger. */
  ledgerPath(): string;
  agent(changes?: Partial<AgentOptions>): Agent;
  /** Returns the types of all logged events except progress. */
  types(): string[];
  /** Returns the epsilon spent on each day. */
  spent(): number[];
  stateOf(measurement: Measurement): Promise<string>;
  /** Runs an agent until the measurement has ended. */
  runUntilClosed(agent: Agent, measurement: Measurement): Promise<Measurement>;
}

export async function startAgentWorld(): Promise<AgentWorld> {
  const made = await startProviderWorld();
  const events = await openEvents({ files: made.events, threads: 1 });
  let runs = 0;
  const ledgerPath = () => join(made.directory, `ledger-${runs}.sqlite`);
  const open = (budget: PrivacyAmount) => openLedger(ledgerPath(), budget);
  const world: AgentWorld = {
    ...made,
    events,
    ledger: undefined as never,
    log: [],
    begin() {
      runs++;
      world.ledger = open({ epsilon: 1e6, delta: 1, rho: 1e3 });
      world.log = [];
    },
    end() {
      const faults = world.ledger.audit();
      world.ledger.close();
      return faults;
    },
    reopen(budget) {
      world.ledger.close();
      world.ledger = open(budget);
    },
    ledgerPath,
    agent: (changes) =>
      createAgent({
        client: made.client(),
        credentials: made.streamly,
        trust: made.trust,
        events,
        ledger: world.ledger,
        references: { spring: { measurementConsumers: [made.acme.name], served: true } },
        pollMs: 400,
        clock,
        log: (event) => world.log.push(event),
        ...changes,
      }),
    types: () => world.log.map(({ type }) => type).filter((type) => type !== 'progress'),
    spent: () => world.ledger.spending().map(({ spent }) => spent.epsilon),
    stateOf: async (measurement) => (await made.requisitionOf(measurement)).state,
    async runUntilClosed(agent, { name }) {
      const stop = new AbortController();
      const running = agent.run(stop.signal);
      try {
        for (;;) {
          const now = await made.acme.client.getMeasurement({ name: name! });
          if (now.state !== 'AWAITING_REQUISITION_FULFILLMENT') return now;
          await sleep(20);
        }
      } finally {
        stop.abort();
        await running;
      }
    },
    async stop() {
      await events.close();
      return made.stop();
    },
  };
  return world;
}
