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
  /** Throws `WaitTimedOut` after this time; default: never. */
  timeoutMs?: number;
  /**
   * The initial polling interval, 500 ms by default; it backs off to at most 20 times that. We poll when the change stream
   * is unavailable and, if `onChange` is set, to pick up progress reports from duchies.
   */
  pollMs?: number;
  /** Called once at the start, and whenever the measurement or a requisition changes state or a duchy reports progress. */
  onChange?: (progress: Progress) => void;
  /** Called with the reason when the measurement's changes cannot be followed and polling starts. */
  onPolling?: (why: string) => void;
  /** Called when changes can be followed again. */
  onFollowing?: () => void;
}

export interface Progress {
  measurement: Measurement;
  requisitions: Requisition[];
  /** Each duchy's latest report, while duchies are computing. */
  reports: DuchyReport[];
}

/** A duchy's progress report. */
export type DuchyReport = NonNullable<Timeline['progress']>[number];

const INITIAL_POLL_MS = 500;
const POLL_GROWTH = 1.5;
const MAX_POLL_GROWTH = 20;

/**
 * Resolves to the measurement once it has succeeded. Throws `MeasurementFailed` if it failed or was canceled. After the
 * first response, an outage of the exchange does not end the wait. Waits on the same client share a watch.
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
      // The change feed does not include the duchies' reports, so poll for them.
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

/** Reads the measurement and, if `whole`, its requisitions and reports. */
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
  const refused = measurement.failure?.reason === 'REQUISITION_REFUSED';
  throw new MeasurementFailed(measurement, refused ? await refusalOf(waited) : undefined);
}

/** Returns undefined if the requisition cannot be read. The failure's message contains the justification too. */
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

/** Whether duchies are computing the measurement and may report progress. */
function areDuchiesAtWork({ state, protocolConfig }: Measurement): boolean {
  return state === 'COMPUTING' && duchyProtocolOf(protocolConfig) !== undefined;
}

async function reportsOf({ client, name, signal }: Waited, measurement: Measurement): Promise<DuchyReport[]> {
  if (!areDuchiesAtWork(measurement)) return [];
  // Every page has each duchy's latest report, so the smallest page is enough.
  const { progress = [] } = await client.getMeasurementTimeline({ name, pageSize: 1, signal }).page();
  return progress;
}

function requisitionsOf(
  { client, name: parent, signal }: Waited,
  states?: Requisition['state'][],
): Promise<Requisition[]> {
  return Array.fromAsync(client.listMeasurementRequisitions({ parent, 'filter.states': states, signal }));
}
