import type { TrustedRoot } from '@measurement-exchange/contract';
import { expect, it } from 'vitest';
import { effectOfRemoval } from './effects.ts';

const rootOf = (id: string, party?: string) => ({ name: `trustedRoots/${id}`, party }) as TrustedRoot;

it('effectOfRemoval describes how certificates are checked after a root is removed', () => {
  const [own, other, general, second] = [
    rootOf('1', 'duchies/a'),
    rootOf('2', 'duchies/a'),
    rootOf('3'),
    rootOf('4'),
  ];
  expect(effectOfRemoval(own!, [own!, other!])).toContain('must then come from its other roots');
  expect(effectOfRemoval(own!, [own!, general!])).toContain('trusted for every party');
  expect(effectOfRemoval(own!, [own!, rootOf('5', 'duchies/b')])).toContain('not checked at all');
  expect(effectOfRemoval(general!, [general!, second!, own!])).toContain('one of 2 roots');
  expect(effectOfRemoval(general!, [general!, own!])).toContain('not checked at all');
});
