/** The log of changes, and those who follow it. */
import type { PlantedBug } from '../plant.ts';
import { inConsumer, inExchange, test } from './edits.ts';

const LOG = 'database/changes.ts';
const VERSIONS = 'database/versions.ts';
const TESTS = 'exchange/test/changes';
const WATCH_TEST = 'sdk/test/client/watch.test.ts';
const inClient = (find: string, replace: string) => inConsumer('client/watch.ts', find, replace);

export const FEED_BUGS: PlantedBug[] = [
  {
    // A change that commits later is ordered before changes that were read.
    name: 'changes-beyond-the-horizon',
    edits: [inExchange(LOG, 'WHERE party = $1 AND xid < place.horizon', 'WHERE party = $1')],
    foundBy: test(`${TESTS}/changes.test.ts`, 'hold back what comes behind a transaction'),
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
    foundBy: test(`${TESTS}/changes.test.ts`, 'follow each other without a gap or a repeat'),
  },
  {
    // Every waiting watcher gets the changes of the first one's party.
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
    // Other processes find out by their slow poll only.
    name: 'notify-lost',
    edits: [
      inExchange('feed/notifier.ts', 'this.db.query(NOTIFY, [payload]).catch(() => {});', 'void payload;'),
    ],
    foundBy: test(`${TESTS}/waiting.test.ts`, 'tells other processes of a commit'),
  },
  {
    name: 'change-not-logged',
    edits: [inExchange('domain/changes.ts', "if (subject === '') {", "if (subject === '' && version < 3) {")],
    foundBy: test(`${TESTS}/changes.test.ts`, 'of a measurement for its consumer'),
  },
  {
    // A consumer hears of its requisitions only when the measurement changes.
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
    // A row written two billion transactions ago looks as if it were written later.
    name: 'old-rows-look-later',
    edits: [inExchange(VERSIONS, 'NOT BETWEEN -1000000 AND -1', '>= 0')],
    foundBy: test(`${TESTS}/order.test.ts`, 'never for what was written long ago'),
  },
  {
    // One that waited for a lock may have its ID before it has the lock.
    name: 'changes-out-of-order',
    edits: [inExchange(VERSIONS, "isNotLater('xmin');", "'true';")],
    foundBy: test(`${TESTS}/order.test.ts`, 'with event groups'),
  },
  {
    // A party that was suspended reads on until its stream ends by itself.
    name: 'stream-after-suspension',
    edits: [
      inExchange(
        'serving/streams.ts',
        'void stream.isAuthorized().then((isStill) => isStill || stream.end());',
        '',
      ),
    ],
    foundBy: test('exchange/test/parties/suspension.test.ts', 'does not go on reading a stream of changes'),
  },
  {
    name: 'streams-without-number',
    edits: [inExchange('operations/changes/watch.ts', 'requireRoom(feed, party);', '')],
    foundBy: test(`${TESTS}/watch.test.ts`, 'has room for 500 of a party'),
  },
  {
    // Changes from before the disconnection arrive again.
    name: 'watch-repeats-after-a-cut',
    edits: [inClient('this.token = token;', 'this.token ??= token;')],
    foundBy: test(WATCH_TEST, 'comes again to an exchange that ends its streams'),
  },
  {
    name: 'watch-without-pages',
    edits: [inClient('else this.giveUpStreams(ending.broken);', '')],
    foundBy: test(WATCH_TEST, 'cuts them at once'),
  },
  {
    // Changes between the two are never reported.
    name: 'token-after-the-first-look',
    edits: [
      inConsumer(
        'client/follow.ts',
        '// Earlier changes are not reported, so poll for them.\n    this.pollIn(0);',
        '',
      ),
    ],
    foundBy: test(
      'sdk/test/consumer/waitFollowing.test.ts',
      'a change between the first look and the first token is not missed',
    ),
  },
];
