/** Tests `mex populations` and `mex admin populations` against a running exchange. */
import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { path, useExchange } from './adminWorld.ts';
import { lines, mex, mexJson } from './mexInProcess.ts';

useExchange();

describe('mex populations', () => {
  it('prints how to create a population if there are none', async () => {
    expect(await mex('populations', 'list', '--as', 'acme')).toContain('mex admin populations create');
  });

  it('lists and shows populations to every party, and only the operator can create them', async () => {
    const made = await mexJson(
      ...['admin', 'populations', 'create', 'adults', '--range', '1001-2000', '1-1000'],
      ...['--display-name', 'Adults', '--model-line', 'a', 'b', '--default'],
    );
    expect(made).toMatchObject({
      name: 'populations/adults',
      vidRanges: [
        { start: 1, end: 1000 },
        { start: 1001, end: 2000 },
      ],
      size: 2000,
      modelLines: ['a', 'b'],
      default: true,
    });
    for (const party of ['acme', 'streamly']) {
      const list = await mex('populations', 'list', '--as', party);
      expect(list).toMatch(/^populations\/adults +Adults +2,000 +yes +a, b$/m);
      expect(lines(await mex('populations', 'list', '--json', '--as', party))).toEqual([made]);
      for (const name of ['adults', 'populations/adults']) {
        expect(await mexJson('populations', 'show', name, '--as', party)).toEqual(made);
      }
    }
    const shown = await mex('populations', 'show', 'adults', '--as', 'acme');
    expect(shown).toMatch(/^ +people +2,000$/m);
    expect(shown).toMatch(/^ +VIDs +1-1000, 1001-2000$/m);
    await expect(mex('populations', 'show', 'nobody', '--as', 'acme')).rejects.toThrow('does not exist');
    await expect(mex('admin', 'populations', 'create', '--range', '1-9', '--as', 'acme')).rejects.toThrow(
      'PERMISSION_DENIED',
    );
  });

  it('accepts the ranges of a population from a file, and rejects invalid ranges', async () => {
    const ranges = Array.from({ length: 10 }, (_, i) => ({ start: 10 * i + 1, end: 10 * i + 5 }));
    await writeFile(path('ranges.json'), JSON.stringify(ranges));
    const shown = await mex('admin', 'populations', 'create', 'many', '--ranges', path('ranges.json'));
    expect(shown).toMatch(/^populations\/many$/m);
    expect(shown).toMatch(/^ +VIDs +1-5, .*, 71-75 and 2 more ranges$/m);
    await writeFile(path('ranges.json'), '[{"start": 0, "end": 5}]');
    await expect(mex('admin', 'populations', 'create', '--ranges', path('ranges.json'))).rejects.toThrow(
      /ranges\.json: vidRanges\[0\]\.start must be an integer from 1 to 2147483646\./,
    );
    for (const wrong of [[], ['--range', '1-2', '--ranges', path('ranges.json')]]) {
      await expect(mex('admin', 'populations', 'create', ...wrong)).rejects.toThrow('either --range');
    }
    await expect(mex('admin', 'populations', 'create', '--range', '1..9')).rejects.toThrow('1-1000000');
    await expect(mex('admin', 'populations', 'create', '--range', '9-1')).rejects.toThrow('vidRanges[0].end');
  });

  it('accepts subpopulations with attributes from a file, and rejects overlapping ones', async () => {
    const subpopulations = [
      {
        attributes: [
          { name: 'age', value: '18-34' },
          { name: 'sex', value: 'F' },
        ],
        vidRanges: [{ start: 1, end: 10 }],
      },
      { attributes: [{ name: 'age', value: '35+' }], vidRanges: [{ start: 11, end: 30 }] },
    ];
    await writeFile(path('people.json'), JSON.stringify(subpopulations));
    const create = ['admin', 'populations', 'create', '--subpopulations', path('people.json')];
    const made = await mexJson(...create);
    expect(made).toMatchObject({ subpopulations, vidRanges: [{ start: 1, end: 30 }], size: 30 });
    expect(await mex('populations', 'show', made.name, '--as', 'acme')).toMatch(
      /^ +attributes +person\.age \(18-34, 35\+\); person\.sex \(F\)$/m,
    );
    expect((await mexJson(...create, '--range', '1-50')).size).toBe(50);
    await writeFile(path('people.json'), JSON.stringify([...subpopulations, subpopulations[0]]));
    await expect(mex(...create)).rejects.toThrow('1-10 and 1-10 must not overlap');
    await writeFile(path('people.json'), '[{"vidRanges": []}]');
    await expect(mex(...create)).rejects.toThrow('people.json: subpopulations[0].');
  });

  it('updates only the given fields', async () => {
    const update = (...options: string[]) => mexJson('admin', 'populations', 'update', 'many', ...options);
    expect(await update('--display-name', 'Many')).toMatchObject({ displayName: 'Many', default: false });
    expect(await update('--default', '--model-line', 'c')).toMatchObject({
      default: true,
      modelLines: ['c'],
    });
    expect((await mexJson('populations', 'show', 'adults', '--as', 'acme')).default).toBe(false);
    expect(await update('--no-default')).toMatchObject({ default: false, modelLines: ['c'] });
    expect(await update('--no-model-lines')).toMatchObject({ displayName: 'Many', modelLines: [] });
    await expect(update('--model-line', 'a')).rejects.toThrow('populations/adults');
    await expect(update()).rejects.toThrow('Nothing to change');
    await expect(update('--model-line', 'x', '--no-model-lines')).rejects.toThrow('contradict');
  });
});
