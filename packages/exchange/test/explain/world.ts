/**
 * Test helpers that create situations by sending requests as the parties. They also check how the exchange explains
 * each situation at a chosen time.
 */
import {
  type Explanation,
  matchRoute,
  type Operation,
  type RequestOf,
  type Timestamp,
  timestampOf,
  type Wait,
} from '@measurement-exchange/contract';
import { newCertificate } from '@measurement-exchange/testkit/certificates';
import {
  all,
  type ComputationWorld,
  computationOf,
  type Duchy,
  setAllParameters,
} from '@measurement-exchange/testkit/computations';
import { type DevParty, measurementRequest, type Reply } from '@measurement-exchange/testkit/exchange';
import { useReplica } from '@measurement-exchange/testkit/replica';
import { createMeasurement, ok, post, requisitionOf } from '@measurement-exchange/testkit/steps';
import { expect } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { LastSeen } from '../../src/database/lastSeen.ts';
import { explainComputation, explainMeasurement, explainRequisition } from '../../src/operations/explain.ts';

export type Json = Reply['json'];
const EXPLAIN = { explainMeasurement, explainRequisition, explainComputation };
/** WORDS is the reason that a provider gives for a deferral. REPORT is the message that a duchy reports. */
export const WORDS = 'Our logs of March come on Thursday.';
export const REPORT = 'In progress.';
export const { computations: DEADLINES } = loadConfig({});
export const inHours = (hours: number): Timestamp => timestampOf(Date.now() + hours * 3600_000);

/** A wait without its text (`detail`), and without the time at which the party was last seen. */
export type ExpectedWait = Omit<Wait, 'detail' | 'lastSeen'>;

/** The resource to explain, and the explanation to expect. */
export interface Asked {
  name: string;
  /** All waits that the explanation must list, in this order. */
  waits?: ExpectedWait[];
  risks?: { code: string; at: string }[];
  ending?: { code: string; remedy: string };
  /**
   * A pattern that must match the joined details of the risks. Without risks, it must match the joined details of the
   * waits and of the ending.
   */
  says: RegExp;
}

export interface Situation {
  arrange: () => Promise<Asked>;
  /**
   * The number of hours from now until the explanation is requested, 0 by default. All parties count as last seen at
   * that time, unless `arrange` sets other times.
   */
  hours?: number;
}

/** The texts of the remedies in explanations. Most of them address a reader who waits for another party. */
export const REMEDY = {
  ask: ({ name }: Named) => `Ask ${name} why its agent does not respond, or cancel the measurement.`,
  wait: 'Wait: its agent runs, and has 10 min before it counts as silent.',
  start: ({ name }: Named) =>
    `Ask the operator of ${name} to start it, and to check that it reaches the exchange.`,
  byItself: ({ name }: Named) =>
    `It does this by itself while it runs; if it continues, ask the operator of ${name} to look into its log.`,
  mend: ({ name }: Named) =>
    `Only the operator of ${name} can fix this: send them the name of the computation and the report.`,
  resume: 'Ask the operator of the exchange why, and to resume it.',
  renew: ({ name }: Named) =>
    `${name} registers a new certificate; then cancel the measurement and create it again.`,
  again: 'It stays so; create the measurement again.',
  none: 'Nothing is left to do.',
};
interface Named {
  name: string;
}

export function useExplained(world: ComputationWorld) {
  const { exchange } = world;
  const replica = useReplica(exchange);
  const lastSeen = new Map<string, Timestamp>();

  /** Sets when the party was last seen, in hours from now. null means never. */
  function seen({ name }: Named, hoursFromNow: number | null): void {
    if (hoursFromNow === null) lastSeen.delete(name);
    else lastSeen.set(name, inHours(hoursFromNow));
  }

  const everyone = (): Named[] => [world.acme, ...exchange.dev.dataProviders, ...all(world.duchies)];

  async function explain(name: string, hours = 0): Promise<Explanation> {
    const { route, params } = matchRoute('GET', `/v2alpha/${name}:explain`);
    const deadlines = { ...DEADLINES, cancelPendingAfterDays: undefined };
    // Use the times that the test set, instead of the times that the exchange itself recorded.
    const seenThen = Object.assign(new LastSeen(), { latest: (party: string) => lastSeen.get(party) });
    const store = { ...replica(hours), deadlines, lastSeen: seenThen };
    const request = { params, path: name } as unknown as RequestOf<Operation>;
    return EXPLAIN[route.operation as keyof typeof EXPLAIN](store as never, {} as never, request as never);
  }

  const own = (measurement: Json, provider: DevParty = world.streamly): Promise<Json> =>
    requisitionOf(exchange, provider, measurement);

  return {
    replica,
    seen,
    explain,
    /** Returns the requisition in the view of its provider. */
    own,
    direct: (): Promise<Json> => createMeasurement(exchange, world.acme, [world.streamly]),
    async defer(measurement: Json, until = inHours(1)): Promise<Json> {
      const { name } = await own(measurement);
      return ok(post(exchange, world.streamly, `${name}:defer`, { reason: WORDS, until }));
    },
    /** Creates a measurement and sets the parameters of all duchies, so that the measurement waits only for data. */
    async ready(): Promise<Json> {
      const measurement = await world.create();
      await setAllParameters(exchange, world.duchies, measurement);
      return measurement;
    },
    /** Reports progress of a duchy and returns the time of the report. */
    async log(
      duchy: Duchy,
      measurement: Json,
      report: { stage: string; attempt?: number; progress?: number },
    ) {
      const path = `${computationOf(duchy, measurement)}:log`;
      await ok(
        post(exchange, duchy as DevParty, path, { attempt: 1, progress: 0.5, code: 'RUNNING', ...report }),
      );
      const [row] = await exchange.database.query(
        `SELECT to_char(max(time) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time
           FROM computation_log WHERE duchy = $1 AND computation = $2`,
        [duchy.name, measurement.name.split('/').at(-1)],
      );
      return row!.time as Timestamp;
    },
    /**
     * Creates a measurement of these providers. The first provider uses a certificate that is valid for this many
     * hours.
     */
    async withCertificate(hours: number, providers: DevParty[]) {
      const [{ name, token }] = providers as [DevParty];
      const body = await newCertificate(undefined, { notAfter: new Date(Date.now() + hours * 3600_000) });
      const certificate = await ok(
        exchange.call(token, 'POST', `/v2alpha/${name}/certificates`, { x509Der: body.x509Der }),
      );
      const request = measurementRequest(world.acme, providers) as Json;
      request.dataProviders[name].dataProviderCertificate = certificate.name;
      const measurement = await ok(post(exchange, world.acme, `${world.acme.name}/measurements`, request));
      return { measurement, certificate };
    },
    /** The expected wait for the provider of a requisition, in the consumer's view. */
    async ofRequisition(
      measurement: Json,
      provider: DevParty,
      code: Wait['code'],
      remedy: string,
    ): Promise<ExpectedWait> {
      const { name, updateTime } = await own(measurement, provider);
      const resource = `${measurement.name}/requisitions/${name.split('/').at(-1)}`;
      return { party: provider.name, resource, code, since: updateTime, remedy };
    },
    /** Creates the situation, and checks that the whole explanation is as expected. */
    async check({ arrange, hours = 0 }: Situation): Promise<Explanation> {
      for (const party of everyone()) seen(party, hours);
      const { name, waits = [], risks = [], ending, says } = await arrange();
      const explanation = await explain(name, hours);
      const { summary, waitingFor } = explanation;
      expect(waitingFor.map(({ detail: _, ...wait }) => wait)).toEqual(
        waits.map((wait) => ({ ...wait, lastSeen: lastSeen.get(wait.party) })),
      );
      expect(explanation.risks.map(({ code, at }) => ({ code, at }))).toEqual(risks);
      const { detail, ...ended } = explanation.ending ?? { detail: '' };
      expect(ended).toEqual(ending ?? {});
      const said = risks.length > 0 ? explanation.risks : [...waitingFor, { detail }];
      expect(said.map((one) => one.detail).join('\n')).toMatch(says);
      expect(summary).toMatch(/^[^\n]+\S$/);
      return explanation;
    },
  };
}
