/** Names of parties in sentences. */
import { cut } from '@measurement-exchange/contract';
import { useMemo } from 'react';
import { idOf } from '../session/roles.ts';
import { useSession } from '../session/session.ts';
import { usePublishers } from './Publisher.tsx';

/** Returns the words for a party, given its resource name. */
export type NameOf = (party: string) => string;

/** Names of publishers, duchies, and the caller, for sentences. */
export function useNames(): NameOf {
  const publisher = usePublishers();
  const { principal } = useSession();
  return useMemo(
    () => (party) => {
      if (party === principal) return 'You';
      if (party.startsWith('dataProviders/')) return isolated(publisher(party).label);
      return isolated(capital(idOf(party)));
    },
    [publisher, principal],
  );
}

/** A text from somebody else inside a sentence: short, and without effect on the direction of the words around it. */
export const isolated = (text: string) => `\u2068${cut(text, 80)}\u2069`;

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Replaces the resource names in a sentence of the exchange by names for people. */
export function inWords(sentence: string, nameOf: NameOf): string {
  return sentence
    .replaceAll(/measurementConsumers\/[\w-]+\/measurements\/[\w-]+\/requisitions\/[\w-]+/g, 'the request')
    .replaceAll(/dataProviders\/[\w-]+\/requisitions\/[\w-]+/g, 'the request')
    .replaceAll(/\b(?:dataProviders|duchies|measurementConsumers)\/[\w-]+(?!\/)\b/g, (party) =>
      nameOf(party),
    );
}

/** Joins words as in `Alpha, Beta and Gamma`. */
export function listed(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
