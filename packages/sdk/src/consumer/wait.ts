/** Waiting for the end of a measurement. */
import { isTerminal, type Measurement, type Requisition } from '@measurement-exchange/contract';
import { type Clock, systemClock } from '../client/clock.ts';
import { type ExchangeClient, isTransient } from '../client/index.ts';
import { MeasurementFailed, type RefusedBy, WaitTimedOut } from './errors.ts';

/** How long and how often to look whether a measurement is done, and whom to tell on the way. */
export interface WaitOptions {
  signal?: AbortSignal;
  /** Gives up after so long with `WaitTimedOut`; absent: never. */
  timeoutMs?: number;
  /** The first pause between two looks, 500 ms unless given; it grows to 20 times that. */
  pollMs?: number;
  /** Called at first, and whenever the measurement or one of its requisitions changed its state. */
  onChange?: (progress: Progress) => void;
}

/** How far a measurement is. */
export interface Progress {
  measurement: Measurement;
  requisitions: Requisition[];
}

const FIRST_POLL_MS = 500;
const GROWTH = 1.5;
const LONGEST = 20;

/** The measurement once it has succeeded. Throws `MeasurementFailed` when it failed or was cancelled. */
export async function waitForMeasurement(
  client: ExchangeClient,
  name: string,
  options: WaitOptions = {},
  clock: Clock = systemClock,
): Promise<Measurement> {
  const { signal, timeoutMs = Number.POSITIVE_INFINITY, pollMs = FIRST_POLL_MS, onChange } = options;
  const asked = { name, ...(signal && { signal }) };
  const deadline = clock.now() + timeoutMs;
  let seen = '';
  let pause = pollMs;
  for (;;) {
    const measurement = await client.getMeasurement(asked);
    // Once all is over the requisitions may have been removed, and nobody waits for them.
    const requisitions = onChange ? await requisitionsOf(client, name, signal) : [];
    const states = [measurement, ...requisitions].map(({ name, state }) => `${name} ${state}`).join();
    if (states !== seen) {
      seen = states;
      pause = pollMs;
      onChange?.({ measurement, requisitions });
    }
    if (isTerminal(measurement.state)) return concluded(client, measurement, signal);
    const left = deadline - clock.now();
    if (left <= 0) throw new WaitTimedOut(measurement, timeoutMs);
    await clock.sleep(Math.min(pause, left), signal);
    pause = Math.min(pause * GROWTH, pollMs * LONGEST);
  }
}

async function concluded(
  client: ExchangeClient,
  measurement: Measurement,
  signal: AbortSignal | undefined,
): Promise<Measurement> {
  if (measurement.state === 'SUCCEEDED') return measurement;
  const refused = measurement.failure?.reason === 'REQUISITION_REFUSED';
  throw new MeasurementFailed(
    measurement,
    refused ? await refusalOf(client, measurement.name!, signal) : undefined,
  );
}

/** The failure's message names the justification, too: when the requisition is out of reach, that must do. */
async function refusalOf(
  client: ExchangeClient,
  name: string,
  signal: AbortSignal | undefined,
): Promise<RefusedBy | undefined> {
  try {
    const [requisition] = await requisitionsOf(client, name, signal, ['REFUSED']);
    if (!requisition?.refusal || !requisition.dataProvider) return undefined;
    const { justification, message = '' } = requisition.refusal;
    return { dataProvider: requisition.dataProvider, justification, message };
  } catch (error) {
    if (isTransient(error)) return undefined;
    throw error;
  }
}

async function requisitionsOf(
  client: ExchangeClient,
  parent: string,
  signal: AbortSignal | undefined,
  states?: Requisition['state'][],
): Promise<Requisition[]> {
  const requisitions: Requisition[] = [];
  const listing = client.listMeasurementRequisitions({
    parent,
    ...(states && { 'filter.states': states }),
    ...(signal && { signal }),
  });
  for await (const requisition of listing) requisitions.push(requisition);
  return requisitions;
}
