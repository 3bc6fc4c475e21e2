/** Decrypts and prints a measurement's question: its title, event groups, days, and filters. */
import type { Measurement } from '@measurement-exchange/contract';
import {
  type Consumer,
  type ExchangeClient,
  ExchangeError,
  type Question,
  QuestionRejected,
  type RequestedDataProvider,
} from '@measurement-exchange/sdk';
import { visible } from '../terminal/output.ts';
import { shortInterval } from '../terminal/times.ts';

/** A measurement from the API, with its question if the caller's keys could decrypt it. */
export type AskedMeasurement = Measurement & {
  question?: Question;
  questionError?: { code: string; message: string };
};

/** Decrypts the question with the consumer's keys. Without a consumer, returns the measurement unchanged. */
export async function withQuestion(
  consumer: Consumer | undefined,
  measurement: Measurement,
): Promise<AskedMeasurement> {
  if (consumer === undefined) return measurement;
  try {
    const question = await consumer.question(measurement);
    return question === undefined ? measurement : { ...measurement, question };
  } catch (error) {
    if (!(error instanceof QuestionRejected)) throw error;
    const { code, message } = error;
    return { ...measurement, questionError: { code, message } };
  }
}

export async function* pagesWithQuestions<Page extends { measurements: Measurement[] }>(
  consumer: Consumer | undefined,
  pages: AsyncIterable<Page>,
) {
  for await (const page of pages) {
    const opened = page.measurements.map((measurement) => withQuestion(consumer, measurement));
    yield { ...page, measurements: await Promise.all(opened) };
  }
}

export function titleOf({ question, questionError }: AskedMeasurement): string | undefined {
  return questionError ? `rejected: ${questionError.code}` : question?.title;
}

/** One part of a question. It is about one event group, or about a population if `eventGroup` is undefined. */
export interface AskedPart {
  eventGroup?: string;
  interval?: { start: Date | string; end: Date | string };
  filter?: string;
}

export function partsOf({ eventGroups, population }: RequestedDataProvider): AskedPart[] {
  return eventGroups?.map(({ name, ...rest }) => ({ eventGroup: name, ...rest })) ?? [population ?? {}];
}

export function daysOf({ dataProviders }: Question): string | undefined {
  const intervals = dataProviders.flatMap(partsOf).flatMap(({ interval }) => interval ?? []);
  if (intervals.length === 0) return undefined;
  const start = intervals.map((interval) => timeText(interval.start)).sort()[0]!;
  const end = intervals
    .map((interval) => timeText(interval.end))
    .sort()
    .at(-1)!;
  return shortInterval({ startTime: start, endTime: end });
}

/**
 * Describes each part of a question in one line. Names an event group by its reference if the caller can read the event
 * group.
 */
export async function partLines(
  client: ExchangeClient,
  principal: string,
  parts: AskedPart[],
): Promise<string[]> {
  const references = await Promise.all(parts.map((part) => referenceOf(client, principal, part)));
  return parts.map(({ eventGroup, interval, filter }, i) => {
    const days = interval && {
      startTime: timeText(interval.start),
      endTime: timeText(interval.end),
    };
    const what = eventGroup === undefined ? 'the population' : (references[i] ?? eventGroup);
    return visible(
      [what, shortInterval(days), filter && `where ${filter}`].filter((word) => word).join('  '),
    );
  });
}

/** Returns `spring (eventGroups/x)`, or undefined if the event group has no reference or cannot be read. */
async function referenceOf(client: ExchangeClient, principal: string, { eventGroup }: AskedPart) {
  const id = eventGroup?.split('/').at(-1);
  if (id === undefined) return undefined;
  try {
    const { eventGroupReferenceId } = await client.getEventGroup({ name: `${principal}/eventGroups/${id}` });
    return eventGroupReferenceId && `${eventGroupReferenceId} (eventGroups/${id})`;
  } catch (error) {
    if (error instanceof ExchangeError) return undefined;
    throw error;
  }
}

function timeText(time: Date | string): string {
  return typeof time === 'string' ? time : time.toISOString();
}
