import type { Estimate, MeasurementResult } from '@measurement-exchange/sdk';
import { expect, it, vi } from 'vitest';
import { printResult } from './report.ts';

const estimate = (value: number, margin: number): Estimate => ({
  value,
  variance: (margin / 1.96) ** 2,
  standardDeviation: margin / 1.96,
  interval: [value - margin, value + margin],
});

function printed(result: MeasurementResult): string {
  let out = '';
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    out += chunk;
    return true;
  });
  printResult(result);
  spy.mockRestore();
  return out;
}

it('printResult prints an unbounded interval as "or more", and notes an empty frequency distribution', () => {
  const out = printed({
    measurement: 'measurementConsumers/acme/measurements/m1',
    type: 'reachAndFrequency',
    dataProviders: [{ name: 'dataProviders/streamly' }],
    total: {
      deduplicated: {
        reach: { ...estimate(5_000_000, 900), interval: [1_200_000, Number.POSITIVE_INFINITY] },
        frequency: [],
        aggregator: 'duchies/gamma',
        workers: ['duchies/alpha'],
      },
    },
  });
  expect(out).toMatch(/reach +5,000,000 +95 %: 1,200,000 or more$/m);
  expect(out).toContain('  times seen: nobody was counted, so there is no distribution\n');
  expect(out).not.toMatch(/NaN|Infinity|∞/);
});

it('printResult prints the deduplicated figure of all providers with its interval, method and duchies', () => {
  const out = printed({
    measurement: 'measurementConsumers/acme/measurements/m1',
    type: 'reachAndFrequency',
    dataProviders: [{ name: 'dataProviders/streamly' }, { name: 'dataProviders/chirper' }],
    total: {
      deduplicated: {
        reach: estimate(420_655, 129),
        frequency: [
          {
            frequency: 1,
            share: estimate(0.75, 0.01),
            count: estimate(315_491, 500),
            atLeast: estimate(420_655, 129),
          },
          {
            frequency: 2,
            share: estimate(0.25, 0.01),
            count: estimate(105_164, 500),
            atLeast: estimate(105_164, 500),
          },
        ],
        noiseMechanism: 'DISCRETE_GAUSSIAN',
        methodology: 'honestMajorityShareShuffle',
        aggregator: 'duchies/gamma',
        workers: ['duchies/alpha', 'duchies/beta'],
      },
    },
  });
  expect(out).toMatch(
    /^all 2 providers, everybody counted once\n {2}reach +420,655 +95 %: 420,526 to 420,784$/m,
  );
  expect(out).toMatch(/^ +1 .* 75\.00 % ± 1\.00 % +315,491$/m);
  expect(out).toMatch(/^ +2\+ .* 25\.00 % ± 1\.00 % +105,164$/m);
  expect(out).toContain('  of dataProviders/streamly, dataProviders/chirper\n');
  expect(out).toContain(
    '  honest majority share shuffle, discrete Gaussian noise; signature and certificate verified\n',
  );
  expect(out).toContain('  computed by duchies/gamma with duchies/alpha and duchies/beta\n');
  expect(out).not.toContain('between');
});

it('printResult notes that there is no frequency distribution if the reach is 0', () => {
  const out = printed({
    measurement: 'measurementConsumers/acme/measurements/m1',
    type: 'reachAndFrequency',
    dataProviders: [{ name: 'dataProviders/streamly' }, { name: 'dataProviders/chirper' }],
    total: {
      deduplicated: {
        reach: { ...estimate(0, 129), interval: [0, 129] },
        frequency: [],
        noiseMechanism: 'DISCRETE_GAUSSIAN',
        methodology: 'honestMajorityShareShuffle',
        aggregator: 'duchies/gamma',
        workers: ['duchies/alpha', 'duchies/beta'],
      },
    },
  });
  expect(out).toMatch(
    /^ {2}reach +0 +95 %: 0 to 129\n {2}times seen: nobody was counted, so there is no distribution$/m,
  );
  expect(out).not.toMatch(/NaN|Infinity/);
});
