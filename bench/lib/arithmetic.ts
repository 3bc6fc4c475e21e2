/** A process in which nothing runs but what is measured: the arithmetic of a worker, and a provider's part. */
import type { VidRange } from '@measurement-exchange/contract';
import { openEvents } from '@measurement-exchange/sdk/provider';
import { FrequencyVector, openVidIndex } from '@measurement-exchange/sdk/shareShuffle';
import { CAMPAIGN, EVENT_GROUP } from './audiences.ts';
import { serve } from './processes.ts';
import { type MeasurementType, sharingRound, shuffleRound } from './shareShuffle.ts';

const EVERYBODY = { start: 0, width: 1 };
const MAXIMUM_FREQUENCY = 8;
const INTERVAL = { start: new Date(CAMPAIGN.start), end: new Date(CAMPAIGN.end) };

/** Where the order of a population is kept, and the events that are counted. */
export interface VectorInput {
  folder: string;
  ranges: VidRange[];
  file: string;
}

const handlers = {
  shuffle: ({ type, registers }: { type: MeasurementType; registers: number }) =>
    shuffleRound(type, registers),
  sharing: ({ registers }: { registers: number }) => sharingRound(registers),
  /** Puts the VIDs of a population into order, which a provider does once. */
  order: ({ folder, ranges }: Omit<VectorInput, 'file'>) =>
    timed(async () => void (await openVidIndex(folder, ranges))),
  /** Counts people into registers, beside the bare query of the same people. */
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
