/** Planted bugs in the operations of duchies on a computation. */
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
    foundBy: found('results', 'is accepted only from the aggregator of a running computation'),
  },
  {
    name: 'data-at-any-duchy',
    edits: [inExchange(COMPUTATION, 'if (requisition.fulfillingDuchy !== duchy) {', 'if (false) {')],
    foundBy: found('results', 'is accepted only from the duchy that receives the data'),
  },
  {
    name: 'duchy-key-unsigned',
    edits: [inExchange('domain/parameters.ts', 'if (signed.includes(member)) continue;', 'continue;')],
    foundBy: found('parameters', 'signed with the certificate it names'),
  },
  {
    // With this bug, a provider sees only some of the parameters that it needs.
    name: 'duchies-too-early',
    edits: [
      inExchange(
        'operations/requisitions/view.ts',
        '|| !areParametersSet({ participants }))',
        '|| participants.every((p) => p.parameters === undefined))',
      ),
      inExchange(
        'operations/requisitions/view.ts',
        "const shown = participants.filter((p) => !isShuffle || p.role !== 'AGGREGATOR');",
        "const shown = participants.filter((p) => p.role !== 'AGGREGATOR' && p.parameters !== undefined);",
      ),
    ],
    foundBy: found('parameters', 'show both workers once all duchies have set their parameters'),
  },
  {
    name: 'ring-starts-unconfirmed',
    edits: [
      inExchange(
        'domain/participants.ts',
        "unconfirmed(aggregate).length > 0 ? 'PENDING_CONFIRMATION' : 'COMPUTING'",
        "unconfirmed(aggregate).length > 1 ? 'PENDING_CONFIRMATION' : 'COMPUTING'",
      ),
    ],
    foundBy: found('ring', 'is computed once all duchies have confirmed'),
  },
  {
    name: 'confirmed-on-a-revoked-certificate',
    edits: [
      inExchange(
        'operations/computations/confirm.ts',
        'if (change.steps.length > 0) requireNoneRevoked(revoked);',
        '',
      ),
    ],
    foundBy: found('ring', 'prevents confirmations even before the measurement has failed'),
  },
  {
    name: 'wish-after-the-usual-order',
    edits: [
      inExchange(
        'domain/protocolOptions.ts',
        '.sort((a, b) => Number(b.protocol === wish) - Number(a.protocol === wish))',
        '',
      ),
    ],
    foundBy: test('exchange/src/domain/liquidLegions.test.ts'),
  },
  {
    name: 'revocation-ignores-duchies',
    edits: [inExchange('database/revocationCascades.ts', "OR protocol <> 'direct' AND (", 'OR false AND (')],
    foundBy: found('ending', 'fails only open measurements that depend on it'),
  },
  {
    name: 'data-deadline-ignored',
    edits: [
      inExchange(
        'jobs/computationDeadlines.ts',
        'await findOverdue[state](tx,',
        "state === 'PENDING_FULFILLMENT' ? [] : await findOverdue[state](tx,",
      ),
    ],
    foundBy: found('deadlines', 'fails a computation whose data does not arrive'),
  },
  {
    // With this bug, the job fails a computation even if the overdue step was done while the job waited for the lock.
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
  {
    // With this bug, a duchy could hide secret data in the position of a failure.
    name: 'any-position-of-a-failure',
    edits: [inExchange('domain/computation.ts', 'requirePosition(before, input.position);', '')],
    foundBy: found('results', 'accepts only listed codes and positions of this computation'),
  },
];
