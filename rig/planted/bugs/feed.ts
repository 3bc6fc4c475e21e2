/** The log of changes, and those who follow it. */
import type { PlantedBug } from '../plant.ts';
import { inExchange, test } from './edits.ts';

const LOG = 'database/changes.ts';
const TESTS = 'exchange/test/changes';

export const FEED_BUGS: PlantedBug[] = [
  {
    // What commits later is ordered before what was read.
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
    // Whoever waits is told of what the first one waits for.
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
      inExchange('feed/waking.ts', 'this.db.query(NOTIFY, [payload]).catch(() => {});', 'void payload;'),
    ],
    foundBy: test(`${TESTS}/waiting.test.ts`, 'tells other processes of a commit'),
  },
  {
    name: 'change-not-logged',
    edits: [inExchange('domain/changes.ts', "if (subject === '') {", "if (subject === '' && version < 3) {")],
    foundBy: test(`${TESTS}/changes.test.ts`, 'of a measurement and its requisitions'),
  },
];
