/** What duchies do to a computation. */
import type { PlantedBug } from '../plant.ts';
import { inExchange, test } from './edits.ts';

const COMPUTATION = 'domain/computation.ts';
const found = (file: string, title: string) => test(`exchange/test/computations/${file}.test.ts`, title);

export const COMPUTATION_BUGS: PlantedBug[] = [
  {
    name: 'result-of-a-worker',
    edits: [
      inExchange(COMPUTATION, "if (own.role !== 'AGGREGATOR') throw illegal(", 'if (false) throw illegal('),
    ],
    foundBy: found('results', 'is for the aggregator of a computation that runs'),
  },
  {
    name: 'data-at-any-duchy',
    edits: [inExchange(COMPUTATION, 'if (requisition.fulfillingDuchy !== duchy) {', 'if (false) {')],
    foundBy: found('results', 'is for the duchy that takes the data'),
  },
  {
    name: 'duchy-key-unsigned',
    edits: [inExchange(COMPUTATION, 'if (isKeySigned) return;', 'return;')],
    foundBy: found('parameters', 'needs a key from a worker, signed by the certificate it names'),
  },
  {
    // What a provider needs is there in part.
    name: 'duchies-too-early',
    edits: [
      inExchange(
        'operations/requisitions/view.ts',
        '|| !areParametersSet({ participants }))',
        '|| participants.every((p) => p.parameters === undefined))',
      ),
      inExchange(
        'operations/requisitions/view.ts',
        "const workers = participants.filter((p) => p.role !== 'AGGREGATOR');",
        "const workers = participants.filter((p) => p.role !== 'AGGREGATOR' && p.parameters !== undefined);",
      ),
    ],
    foundBy: found('parameters', 'show both workers once all duchies have set their parameters'),
  },
  {
    name: 'revocation-ignores-duchies',
    edits: [inExchange('database/revocationCascades.ts', "OR protocol <> 'direct' AND (", 'OR false AND (')],
    foundBy: found('ending', 'fails what rests on it, and nothing else'),
  },
  {
    name: 'data-deadline-ignored',
    edits: [
      inExchange(
        'database/computations.ts',
        'return (await db.query(OVERDUE[state], [cutoff, limit]))',
        "return (state === 'PENDING_FULFILLMENT' ? [] : await db.query(OVERDUE[state], [cutoff, limit]))",
      ),
    ],
    foundBy: found('deadlines', 'fails a computation whose data does not come'),
  },
  {
    // What they waited for came while the job waited for the lock.
    name: 'deadline-judges-what-it-found',
    edits: [
      inExchange(
        'jobs/computationDeadlines.ts',
        '.filter((aggregate) => computationState(aggregate) === state)',
        '',
      ),
    ],
    foundBy: found('races', 'the last data and its deadline'),
  },
];
