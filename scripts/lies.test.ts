import { expect, it } from 'vitest';
import { liesIn } from './lies.ts';

it('liesIn() reads the titles and the expected codes of tests and their tables', () => {
  const source = `
    describe('a lie to somebody:', () => {
      test.each<[string, () => void, RegExp]>([
        ['another name', (view) => (view.name = 'x'), /^NAME_WRONG at \\w+: .* is \\d+/],
        ['no name', dropped('name'), at('name')],
        ['a name too many', () => {}],
      ])('%s', (what) => expect(what).toThrow('TABLE_CODE'));
      test('the truth', () => expect(1).toBe(1));
      test('a lie', () => expect(1).toBe('LIE_FOUND'));
    });
    export const ROWS = [['the row of a helper', 'ROW_CODE', 'says so', () => {}], ['duchies/alpha', 1]];
  `;
  expect(Object.fromEntries(liesIn('a.ts', source))).toEqual({
    'a lie to somebody': [
      { title: 'another name', says: '`NAME_WRONG at …: … is …`' },
      { title: 'no name', says: '`name`' },
      { title: 'a name too many', says: '`TABLE_CODE`' },
      { title: 'a lie', says: '`LIE_FOUND`' },
    ],
    Lie: [{ title: 'the row of a helper', says: '`ROW_CODE`, `says so`' }],
  });
});
