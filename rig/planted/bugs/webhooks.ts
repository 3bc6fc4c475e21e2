/** Planted bugs in webhooks: allowed addresses, leases of deliverers, order, and secrecy of their keys. */
import type { Edit, PlantedBug } from '../plant.ts';
import { inExchange, test } from './edits.ts';

const deliveriesTest = (name: string) => test('exchange/test/webhooks/deliveries.test.ts', name);
const webhooksTest = (name: string) => test('exchange/test/webhooks/webhooks.test.ts', name);
const addressTest = (name: string) => test('contract/src/values/address.test.ts', name);
const urlTest = (name: string) => test('exchange/src/domain/webhook.test.ts', name);

const inAddresses = (find: string, replace: string): Edit => ({
  file: 'contract/src/values/address.ts',
  find,
  replace,
});

export const WEBHOOK_BUGS: PlantedBug[] = [
  {
    name: 'webhook-to-mapped-addresses',
    edits: [inAddresses("['2000::', 3]", "['::', 0]")],
    foundBy: urlTest('the URL of a webhook'),
  },
  {
    name: 'webhook-to-half-of-a-network',
    edits: [inAddresses("['198.18.0.0', 15]", "['198.18.0.0', 16]")],
    foundBy: addressTest('isPublicAddress is false from'),
  },
  {
    name: 'webhook-to-a-network-left-out',
    edits: [inAddresses("['192.88.99.0', 24],", '')],
    foundBy: addressTest('isPublicAddress is false from'),
  },
  {
    name: 'webhook-to-no-neighbor-of-a-network',
    edits: [inAddresses("['172.16.0.0', 12]", "['172.0.0.0', 8]")],
    foundBy: addressTest('isPublicAddress is false from'),
  },
  {
    name: 'webhook-to-any-port',
    edits: [inExchange('domain/webhook.ts', 'port < 1024', 'port < 1')],
    foundBy: urlTest('the URL of a webhook'),
  },
  {
    // With this bug, a webhook can reach a private address through a host name. The test uses an address of its own
    // machine, because other private addresses cannot be reached from every machine.
    name: 'webhook-to-any-address-of-a-name',
    edits: [
      inExchange(
        'webhooks/send.ts',
        'addresses.some(({ address }) => !destinations.isPublic(address))',
        'false',
      ),
    ],
    foundBy: test('exchange/src/webhooks/send.test.ts', 'gets no connection'),
  },
  {
    name: 'webhook-length-in-characters',
    edits: [inExchange('webhooks/send.ts', 'Buffer.byteLength(payload)', 'payload.length')],
    foundBy: test('exchange/src/webhooks/send.test.ts', 'sends the content length in bytes'),
  },
  {
    name: 'webhook-deaf-to-retry-after',
    edits: [
      inExchange('webhooks/send.ts', "retryAfter: response.headers['retry-after']", 'retryAfter: undefined'),
    ],
    foundBy: test('exchange/src/webhooks/send.test.ts', 'sends the content length in bytes'),
  },
  {
    name: 'webhook-waits-for-the-poll',
    edits: [inExchange('jobs/index.ts', 'this.deliverer.changed(parties);', '')],
    foundBy: deliveriesTest('a delivery starts after the commit'),
  },
  {
    name: 'webhook-signed-with-the-new-secret-only',
    edits: [
      inExchange(
        'webhooks/round.ts',
        'oldSecret === null ? [] : [oldSecret]',
        'oldSecret === null ? [] : []',
      ),
    ],
    foundBy: webhooksTest('are signed with both secrets'),
  },
  {
    name: 'webhook-secret-stored-as-it-is',
    edits: [
      inExchange('operations/webhooks/create.ts', 'exchange.secrets.seal(webhook.id, secret)', 'secret'),
    ],
    foundBy: webhooksTest('never stores or logs it'),
  },
  {
    name: 'webhook-order-not-kept',
    edits: [inExchange('webhooks/round.ts', "if (result.state === 'PENDING') break;", '')],
    foundBy: deliveriesTest('deliveries lose nothing'),
  },
  {
    name: 'webhook-lease-ignored',
    edits: [
      inExchange(
        'database/webhooks.ts',
        '(w.lease_expiry IS NULL OR w.lease_expiry <= now()) AND p.state',
        'p.state',
      ),
    ],
    foundBy: deliveriesTest('only after the lease has expired'),
  },
  {
    name: 'webhook-never-paused',
    edits: [
      inExchange('domain/webhook.ts', '(since) => since < hoursBefore', '(since) => since > hoursBefore'),
    ],
    foundBy: urlTest('end after three days'),
  },
];
