/** Display names of parties, for sentences. */
import { cut } from '@measurement-exchange/contract';
import { useMemo } from 'react';
import { idOf } from '../session/roles.ts';
import { useSession } from '../session/session.ts';
import { usePublishers } from './Publisher.tsx';

export type NameOf = (party: string) => string;

export function useNames(): NameOf {
  const publisher = usePublishers();
  const { principal } = useSession();
  return useMemo(
    () => (party) => {
      if (party === principal) return 'You';
      if (party.startsWith('dataProviders/')) return isolated(publisher(party).label);
      return isolated(partyName(party));
    },
    [publisher, principal],
  );
}

/** Shortens text from another party, and isolates its text direction from the sentence around it. */
export const isolated = (text: string) => `\u2068${cut(text, 80)}\u2069`;

/**
 * Makes a name from the ID of a party whose display name the caller cannot read, such as `Acme` for
 * `measurementConsumers/acme`.
 */
export const partyName = (party: string) => capital(idOf(party));

/**
 * Returns the name in a certificate's subject, such as `Acme` for `CN=Acme`. Returns a subject with several parts
 * unchanged.
 */
export const subjectName = (subject: string) => subject.replace(/^CN=([^,]+)$/, '$1');

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/**
 * Replaces resource names in the exchange's text. The names of parties become display names, and the names of
 * requisitions become `the request`.
 */
export function inWords(sentence: string, nameOf: NameOf): string {
  return sentence
    .replaceAll(/measurementConsumers\/[\w-]+\/measurements\/[\w-]+\/requisitions\/[\w-]+/g, 'the request')
    .replaceAll(/dataProviders\/[\w-]+\/requisitions\/[\w-]+/g, 'the request')
    .replaceAll(/\b(?:dataProviders|duchies|measurementConsumers)\/[\w-]+(?![\w/-])/g, (party) =>
      nameOf(party),
    );
}

export function listed(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
