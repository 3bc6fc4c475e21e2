import { CHANGE_KINDS, Change } from '../codecs/change.ts';
import * as s from '../json/schema.ts';
import * as row from './route.ts';

const FROM =
  'Where to begin without a token: with what changes from now on (default), or with the oldest change that is kept';

const follow = {
  from: s.optional(s.enumOf(['NOW', 'OLDEST']), `${FROM}.`),
  'filter.kinds': s.optional(
    s.array(s.enumOf(CHANGE_KINDS)),
    'Only changes of these kinds; repeat the parameter. A token is good for any filter.',
  ),
};

/** The maximum time that a request may wait for changes, in seconds. */
export const MAX_WAIT_SECONDS = 30;

const list = {
  ...row.READ,
  operation: 'listChanges',
  query: s.object({
    ...row.paging,
    ...follow,
    from: s.optional(
      s.enumOf(['NOW', 'OLDEST', 'NEWEST']),
      `${FROM}, or with as many of the newest changes as a page holds.`,
    ),
    waitSeconds: s.optional(
      s.integer(0, MAX_WAIT_SECONDS),
      `Wait for as long where there is nothing yet; at most ${MAX_WAIT_SECONDS}.`,
    ),
  }),
  response: s.object({ changes: s.array(Change), nextPageToken: s.text(2000) }),
  errors: ['CHANGE_TOKEN_EXPIRED'],
  summary: 'What changed for a party, in order; there is always a next page',
} as const;

const watch = {
  ...row.READ,
  operation: 'watchChanges',
  verb: 'watch',
  streams: true,
  query: s.object({ pageToken: row.paging.pageToken, ...follow }),
  response: Change,
  errors: ['CHANGE_TOKEN_EXPIRED'],
  summary: 'Follow what changes for a party, as Server-Sent Events whose IDs are tokens',
} as const;

export const CHANGE_ROUTES = [
  ...row.ofEachParty('changes', () => list),
  ...row.ofEachParty('changes', () => watch),
] as const satisfies readonly row.Route[];
