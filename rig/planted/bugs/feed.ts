/** Planted bugs in the log of changes and in its watchers. */
import type { PlantedBug } from '../plant.ts';
import { inConsumer, inExchange, test } from './edits.ts';

const LOG = 'database/changes.ts';
const VERSIONS = 'database/versions.ts';
const TESTS = 'exchange/test/changes';
const WATCH_TEST = 'sdk/test/client/watch.test.ts';
const inClient = (find: string, replace: string) => inConsumer('client/watch.ts', find, replace);

export const FEED_BUGS: PlantedBug[] = [
  {
    // With this bug, a change that commits later can have a position before changes that were already read.
    name: 'changes-beyond-the-horizon',
    edits: [inExchange(LOG, 'WHERE party = $1 AND xid < place.horizon', 'WHERE party = $1')],
    foundBy: test(`${TESTS}/changes.test.ts`, 'hold back changes after an open transaction'),
  },
  {
    name: 'clock-as-cursor',
    edits: [
      inExchange(
        LOG,
        'AND (changes.xid, changes.seq) > (coalesce($2::xid8, place.xid), coalesce($3::bigint, place.seq))',
        `AND changes.time > coalesce((SELECT k.time FROM changes k
           WHERE k.party = $1 AND k.xid = $2::xid8 AND k.seq = $3::bigint), '-infinity')`,
      ),
    ],
    foundBy: 'H20',
  },
  {
    name: 'resume-one-too-late',
    edits: [
      inExchange(
        LOG,
        'ORDER BY changes.xid, changes.seq LIMIT $4::int',
        'ORDER BY changes.xid, changes.seq LIMIT $4::int OFFSET CASE WHEN $2::xid8 IS NULL THEN 0 ELSE 1 END',
      ),
    ],
    foundBy: test(`${TESTS}/changes.test.ts`, 'follow each other without gaps or duplicates'),
  },
  {
    // With this bug, every waiting watcher gets the changes of the first watcher's party.
    name: 'changes-of-another-party',
    edits: [
      inExchange(
        'feed/feed.ts',
        'this.tails.get(party);\n    if (known',
        '[...this.tails.values()][0];\n    if (known',
      ),
    ],
    foundBy: 'H20',
  },
  {
    // With this bug, other processes notice a change only at their next slow poll.
    name: 'notify-lost',
    edits: [
      inExchange('feed/notifier.ts', 'this.db.query(NOTIFY, [payload]).catch(() => {});', 'void payload;'),
    ],
    foundBy: test(`${TESTS}/waiting.test.ts`, 'announces a commit to other processes'),
  },
  {
    name: 'change-not-logged',
    edits: [inExchange('domain/changes.ts', "if (subject === '') {", "if (subject === '' && version < 3) {")],
    foundBy: test(`${TESTS}/changes.test.ts`, 'of a measurement for its consumer'),
  },
  {
    // With this bug, a consumer gets no change of its requisitions until the measurement changes.
    name: 'requisition-not-told-to-its-consumer',
    edits: [
      inExchange(
        'domain/changes.ts',
        'changes.push({ party: m.consumer, name: `',
        'void ({ party: m.consumer, name: `',
      ),
    ],
    foundBy: test(`${TESTS}/changes.test.ts`, 'of a requisition whose measurement does not change'),
  },
  {
    // With this bug, a row that was written two billion transactions ago looks newer than the current transaction.
    name: 'old-rows-look-later',
    edits: [inExchange(VERSIONS, 'NOT BETWEEN -1000000 AND -1', '>= 0')],
    foundBy: test(`${TESTS}/order.test.ts`, 'is not restarted for rows written long ago'),
  },
  {
    // With this bug, changes can arrive out of order. A transaction may get its ID before it waits for a lock, so IDs
    // alone do not give the order.
    name: 'changes-out-of-order',
    edits: [inExchange(VERSIONS, "isNotLater('xmin');", "'true';")],
    foundBy: test(`${TESTS}/order.test.ts`, 'if it changes an event group'),
  },
  {
    // With this bug, a suspended party can read its stream until the stream ends by itself.
    name: 'stream-after-suspension',
    edits: [
      inExchange(
        'serving/streams.ts',
        'void stream.isAuthorized().then((isStill) => isStill || stream.end());',
        '',
      ),
    ],
    foundBy: test('exchange/test/parties/suspension.test.ts', 'loses its open stream of changes'),
  },
  {
    name: 'streams-without-number',
    edits: [inExchange('operations/changes/watch.ts', 'requireRoom(feed, party);', '')],
    foundBy: test(`${TESTS}/watch.test.ts`, 'is limited to 500 per party'),
  },
  {
    // With this bug, changes from before the disconnection arrive again.
    name: 'watch-repeats-after-a-cut',
    edits: [inClient('this.token = token;', 'this.token ??= token;')],
    foundBy: test(WATCH_TEST, 'reconnects to an exchange that ends its streams'),
  },
  {
    name: 'watch-without-pages',
    edits: [inClient('else this.giveUpStreams(ending.broken);', '')],
    foundBy: test(WATCH_TEST, 'cuts streams immediately'),
  },
  {
    // With this bug, a change between the first poll and the start of the stream is noticed only at the next regular
    // poll.
    name: 'token-after-the-first-look',
    edits: [
      inConsumer(
        'client/follow.ts',
        'this.pollIn(0); } onLost(reason: unknown): void {',
        '}\n  onLost(reason: unknown): void {',
      ),
    ],
    foundBy: test(
      'sdk/test/consumer/waitFollowing.test.ts',
      'a change between its first read and the first token',
    ),
  },
];
