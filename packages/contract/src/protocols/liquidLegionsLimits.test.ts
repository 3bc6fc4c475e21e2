import { expect, it } from 'vitest';
import {
  knownRegisterCount,
  legionsNoiseRegisterCount,
  legionsNoiseShapes,
  legionsNoiseTupleCount,
} from './liquidLegionsLimits.ts';
import { mpcNoiseOffset } from './shareShuffleLimits.ts';

const HIDING = { epsilon: 0.1, delta: 1e-9 };

it('the noise registers of a duchy are for reach, publishers, numbers of providers and known registers', () => {
  const shapes = legionsNoiseShapes(3, 3);
  const offset = (shape: keyof typeof shapes, params: typeof HIDING) =>
    mpcNoiseOffset('DISCRETE_GAUSSIAN', params, shapes[shape]);
  const offsets = {
    reach: offset('reach', { epsilon: 1, delta: 1e-9 }),
    histogram: offset('histogram', HIDING),
    publisher: offset('publisher', HIDING),
  };
  expect(offsets.histogram).toBe(offsets.publisher);
  expect(legionsNoiseRegisterCount({ reach: 10, histogram: 100, publisher: 1000 }, 3, 4)).toBe(
    2000 + 20 + 100 * 12 + 8,
  );
  expect(legionsNoiseTupleCount(50, 10)).toBe(1100);
  expect(knownRegisterCount('reachOnlyLiquidLegionsV2', 3)).toBe(1);
  expect(knownRegisterCount('liquidLegionsV2', 3)).toBe(4);
});

it('the noise of reach, frequency, histogram and publishers has the sensitivities 1, 2, 2 and 5', () => {
  const { reach, frequency, histogram, publisher } = legionsNoiseShapes(5, 3);
  expect([reach, frequency, histogram, publisher].map(({ sensitivity }) => sensitivity)).toEqual([
    1, 2, 2, 5,
  ]);
  expect([reach, frequency, histogram, publisher].map(({ workers }) => workers)).toEqual([3, 3, 3, 3]);
});
