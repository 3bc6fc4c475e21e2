/** Things to explain, made as parties make them, and what is said of them at another time. */
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
/** What a provider says, and what a duchy reports. */
export const WORDS = 'Our logs of March come on Thursday.';
export const REPORT = 'In progress.';
export const { computations: DEADLINES } = loadConfig({});
export const inHours = (hours: number): Timestamp => timestampOf(Date.now() + hours * 3600_000);

/** A wait but for its sentence, and for when the party was last seen. */
export type ExpectedWait = Omit<Wait, 'detail' | 'lastSeen'>;

/** Something to ask about, and what must be said of it. */
export interface Asked {
  name: string;
  /** All of them, in their order. */
  waits?: ExpectedWait[];
  risks?: { code: string; at: string }[];
  ending?: { code: string; remedy: string };
  /** In what is said of the waits, of the risks, or of the ending. */
  says: RegExp;
}

export interface Situation {
  arrange: () => Promise<Asked>;
  /** Asked so many hours later, when all parties are there that the situation does not say otherwise of. */
  hours?: number;
}

/** What to do, in the consumer's view. */
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

  /** The party was last seen so many hours from now; null: never. */
  function seen({ name }: Named, hoursFromNow: number | null): void {
    if (hoursFromNow === null) lastSeen.delete(name);
    else lastSeen.set(name, inHours(hoursFromNow));
  }

  const everyone = (): Named[] => [world.acme, ...exchange.dev.dataProviders, ...all(world.duchies)];

  async function explain(name: string, hours = 0): Promise<Explanation> {
    const { route, params } = matchRoute('GET', `/v2alpha/${name}:explain`);
    const deadlines = { ...DEADLINES, cancelPendingAfterDays: undefined };
    // Not what the exchange itself has seen of its callers by now.
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
    /** The requisition in the view of its provider. */
    own,
    direct: (): Promise<Json> => createMeasurement(exchange, world.acme, [world.streamly]),
    async defer(measurement: Json, until = inHours(1)): Promise<Json> {
      const { name } = await own(measurement);
      return ok(post(exchange, world.streamly, `${name}:defer`, { reason: WORDS, until }));
    },
    /** All parameters are set, and data is awaited. */
    async ready(): Promise<Json> {
      const measurement = await world.create();
      await setAllParameters(exchange, world.duchies, measurement);
      return measurement;
    },
    /** Resolves to the time of the report. */
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
    /** A measurement of these providers, of whom the first one has a certificate that is valid for so many hours. */
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
    /** A wait for the provider of a requisition, in the consumer's view. */
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
    /** Arranges the situation, and compares all that is said. */
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
