/**
 * A process that measures computation without a network: the shuffle stage of a worker in the share shuffle protocol,
 * and the VID index, the frequency vector and the share of a provider.
 */
import type { VidRange } from '@measurement-exchange/contract';
import { openEvents } from '@measurement-exchange/sdk/provider';
import { FrequencyVector, openVidIndex } from '@measurement-exchange/sdk/shareShuffle';
import { CAMPAIGN, EVENT_GROUP } from './audiences.ts';
import { serve } from './processes.ts';
import { type MeasurementType, sharingRound, shuffleRound } from './shareShuffle.ts';

const EVERYBODY = { start: 0, width: 1 };
const MAXIMUM_FREQUENCY = 8;
const INTERVAL = { start: new Date(CAMPAIGN.start), end: new Date(CAMPAIGN.end) };

/** `folder` holds the index of the VIDs in `ranges`, and `file` holds the events to count. */
export interface VectorInput {
  folder: string;
  ranges: VidRange[];
  file: string;
}

const handlers = {
  shuffle: ({ type, registers }: { type: MeasurementType; registers: number }) =>
    shuffleRound(type, registers),
  sharing: ({ registers }: { registers: number }) => sharingRound(registers),
  /** Times the creation of a population's VID index. A provider creates the index only once. */
  order: ({ folder, ranges }: Omit<VectorInput, 'file'>) =>
    timed(async () => void (await openVidIndex(folder, ranges))),
  /** Times the same query of people twice: once adding the people to a frequency vector, and once ignoring them. */
  async vector({ folder, ranges, file }: VectorInput) {
    const index = await openVidIndex(folder, ranges);
    const events = await openEvents({ files: file });
    const eventGroups = [{ reference: EVENT_GROUP, interval: INTERVAL }];
    const query = { eventGroups, vidSampling: EVERYBODY };
    try {
      const vectorMs = await timed(async () => {
        const vector = new FrequencyVector(index, EVERYBODY, MAXIMUM_FREQUENCY);
        await events.people(query, MAXIMUM_FREQUENCY, (vids, frequencies) => {
          for (let i = 0; i < vids.length; i++) vector.add(vids[i]!, frequencies[i]!);
        });
      });
      const bareMs = await timed(() => events.people(query, MAXIMUM_FREQUENCY, () => {}));
      return { vectorMs, bareMs };
    } finally {
      await events.close();
    }
  },
};

export type Arithmetic = typeof handlers;

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

serve(handlers);
