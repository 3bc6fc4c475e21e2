/** A process that reads events through the product's agent code, or the same rows with a bare client. */
import { type Events, openEvents } from '@measurement-exchange/sdk/provider';
import { CAMPAIGN, EVENT_GROUP } from './audiences.ts';
import { type BareStore, MAX_FREQUENCY, openBare } from './bareStores.ts';
import type { StorePlace } from './eventStores.ts';
import { serve } from './processes.ts';

let events: Events | undefined;
let bare: BareStore | undefined;

/** On a busy machine, 100 million events may need longer than the default timeout. */
const TIMEOUT_SECONDS = 3600;
const INTERVAL = { start: new Date(CAMPAIGN.start), end: new Date(CAMPAIGN.end) };
const QUERY = {
  eventGroups: [{ reference: EVENT_GROUP, interval: INTERVAL, filter: "device == 'phone'" }],
  vidSampling: { start: 0, width: 1 },
};

export interface Timed {
  ms: number;
  people: number;
}

async function timed(work: () => Promise<number>): Promise<Timed> {
  const started = performance.now();
  const people = await work();
  return { ms: performance.now() - started, people };
}

async function ownPeople(): Promise<number> {
  let found = 0;
  await events!.people(QUERY, MAX_FREQUENCY, (vids, frequencies) => {
    for (let i = 0; i < vids.length; i++) if (vids[i]! > 0 && frequencies[i]! > 0) found++;
  });
  return found;
}

async function ownHistogram(): Promise<number> {
  const counts = await events!.frequencies(QUERY, MAX_FREQUENCY);
  return counts.reduce((sum, count) => sum + Number(count), 0);
}

const handlers = {
  async openOwn(place: StorePlace) {
    if (place.kind === 'files')
      events = await openEvents({ files: place.file, timeoutSeconds: TIMEOUT_SECONDS });
    else {
      const { password, ...source } = place;
      const config = {
        source: { ...source, password: async () => password },
        timeoutSeconds: TIMEOUT_SECONDS,
      };
      events = await openEvents(config as never);
    }
  },
  async openBare(place: StorePlace) {
    bare = await openBare(place);
  },
  ownHistogram: () => timed(ownHistogram),
  ownPeople: () => timed(ownPeople),
  bareHistogram: () => timed(() => bare!.histogram()),
  barePeople: () => timed(() => bare!.people()),
  /** The peak memory of this process in bytes. */
  memory: () => process.resourceUsage().maxRSS * 1024,
  async close() {
    await events?.close();
    await bare?.close();
  },
};

export type SourceReader = typeof handlers;

serve(handlers);
