import {
  isTerminal,
  type Measurement,
  type Requisition,
  type Timeline,
} from '@measurement-exchange/contract';
import { type Clock, systemClock } from '../client/clock.ts';
import { type ExchangeClient, followChanges, isTransient, UnexpectedResponse } from '../client/index.ts';
import { partyOf } from '../client/names.ts';
import { MeasurementFailed, type RefusedBy, WaitTimedOut } from './errors.ts';
import { duchyProtocolOf } from './protocol.ts';

/** Options for `Consumer.wait`. */
export interface WaitOptions {
  signal?: AbortSignal;
  /** The time after which the wait ends with `WaitTimedOut`; default: never. */
  timeoutMs?: number;
  /**
   * The initial polling interval, 500 ms by default. While nothing changes, the interval grows to at most 20 times this
   * value. `wait` polls while the change stream is unavailable. If `onChange` is set, `wait` also polls while duchies
   * are computing.
   */
  pollMs?: number;
  /** Called at the start, when the measurement or a requisition changes state, and when a duchy reports progress. */
  onChange?: (progress: Progress) => void;
  /** Called with the reason when the change stream becomes unavailable and polling starts. */
  onPolling?: (why: string) => void;
  /** Called when the change stream is available again after a call of `onPolling`. */
  onFollowing?: () => void;
}

export interface Progress {
  measurement: Measurement;
  requisitions: Requisition[];
  /** Each duchy's latest progress report. Empty if no duchies are computing. */
  reports: DuchyReport[];
}

/** A duchy's progress report. */
export type DuchyReport = NonNullable<Timeline['progress']>[number];

const INITIAL_POLL_MS = 500;
const POLL_GROWTH = 1.5;
const MAX_POLL_GROWTH = 20;

/**
 * Resolves to the measurement once it has succeeded. Throws `MeasurementFailed` if it failed or was canceled. After the
 * first response, an outage of the exchange does not end the wait. On each client, all waits without `onChange` share
 * one change stream. All waits with `onChange` share a second stream, which also includes requisitions.
 */
export async function waitForMeasurement(
  client: ExchangeClient,
  name: string,
  options: WaitOptions = {},
  clock: Clock = systemClock,
): Promise<Measurement> {
  const { signal, timeoutMs = Number.POSITIVE_INFINITY, pollMs = INITIAL_POLL_MS, onChange } = options;
  const waited = { client, name, signal };
  const deadline = clock.now() + timeoutMs;
  const follower = followChanges(client, {
    ...{ ...options, name, clock, parent: partyOf(name) },
    kinds: onChange ? ['MEASUREMENT', 'REQUISITION'] : ['MEASUREMENT'],
  });
  let progress: Progress | undefined;
  let seen = '';
  let pause = pollMs;
  try {
    for (;;) {
      await follower.next(pause);
      const looked = await progressOf(waited, onChange !== undefined).catch((error: unknown) => {
        if (progress === undefined || !isTransient(error)) throw error;
      });
      progress = looked ?? progress!;
      const { measurement, requisitions, reports } = progress;
      const states = [measurement, ...requisitions].map(({ name, state }) => `${name} ${state}`);
      const summary = JSON.stringify([states, reports]);
      pause = Math.min(pause * POLL_GROWTH, pollMs * MAX_POLL_GROWTH);
      if (summary !== seen) {
        seen = summary;
        pause = pollMs;
        onChange?.(progress);
      }
      if (isTerminal(measurement.state)) return await concluded(waited, measurement);
      const left = deadline - clock.now();
      if (left <= 0) throw new WaitTimedOut(measurement, timeoutMs);
      // Poll again after a failed request. Also poll for the duchies' reports, because the change stream does not
      // include them.
      const isPolled = looked === undefined || (onChange && areDuchiesAtWork(measurement));
      follower.pollIn(isPolled ? Math.min(pause, left) : left);
    }
  } finally {
    follower.close();
  }
}

interface Waited {
  client: ExchangeClient;
  name: string;
  signal: AbortSignal | undefined;
}

async function progressOf(waited: Waited, whole: boolean): Promise<Progress> {
  const { client, name, signal } = waited;
  const measurement = await client.getMeasurement({ name, signal });
  if (measurement.name !== name) {
    const message = `getMeasurement: the exchange returned another measurement than ${name}`;
    throw new UnexpectedResponse(message, { status: 200, transient: false });
  }
  if (!whole) return { measurement, requisitions: [], reports: [] };
  const requisitions = await requisitionsOf(waited);
  return { measurement, requisitions, reports: await reportsOf(waited, measurement) };
}

async function concluded(waited: Waited, measurement: Measurement): Promise<Measurement> {
  if (measurement.state === 'SUCCEEDED') return measurement;
  throw await failureOf(waited, measurement);
}

/** Returns the error to throw for a measurement that ended without a result. */
export async function failureOf(
  waited: Omit<Waited, 'name'>,
  measurement: Measurement,
): Promise<MeasurementFailed> {
  const refused = measurement.failure?.reason === 'REQUISITION_REFUSED';
  const refusal = refused ? await refusalOf({ ...waited, name: measurement.name! }) : undefined;
  return new MeasurementFailed(measurement, refusal);
}

/**
 * Returns the refusal that made the measurement fail, or undefined if the refusal cannot be read. In that case, the
 * failure's message still contains the justification.
 */
async function refusalOf(waited: Waited): Promise<RefusedBy | undefined> {
  try {
    const [requisition] = await requisitionsOf(waited, ['REFUSED']);
    if (!requisition?.refusal || !requisition.dataProvider) return undefined;
    const { justification, message = '' } = requisition.refusal;
    return { dataProvider: requisition.dataProvider, justification, message };
  } catch (error) {
    if (isTransient(error)) return undefined;
    throw error;
  }
}

function areDuchiesAtWork({ state, protocolConfig }: Measurement): boolean {
  return state === 'COMPUTING' && duchyProtocolOf(protocolConfig) !== undefined;
}

async function reportsOf({ client, name, signal }: Waited, measurement: Measurement): Promise<DuchyReport[]> {
  if (!areDuchiesAtWork(measurement)) return [];
  // Request a page of size 1, because the first page of any size contains the latest report of each duchy.
  const { progress = [] } = await client.getMeasurementTimeline({ name, pageSize: 1, signal }).page();
  return progress;
}

function requisitionsOf(
  { client, name: parent, signal }: Waited,
  states?: Requisition['state'][],
): Promise<Requisition[]> {
  return Array.fromAsync(client.listMeasurementRequisitions({ parent, 'filter.states': states, signal }));
}
