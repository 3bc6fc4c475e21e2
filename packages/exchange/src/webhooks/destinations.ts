/**
 * Limits the destinations and the rates of deliveries. Parties need not prove that they own an endpoint, so a party
 * could use webhooks to attack other servers.
 */
import { BlockList, isIP } from 'node:net';
import { array, number, object, type Static, text } from '@measurement-exchange/contract/schema';
import { isAllowed } from '../domain/webhook.ts';
import { RateLimiter } from '../serving/rateLimiter.ts';

const perSecond = () => number({ exclusiveMinimum: 0 });

export const WebhookSetting = object({
  /** Networks that get no deliveries, as CIDRs. Private networks never get deliveries, even if they are not listed. */
  deniedNetworks: array(text(100)),
  /** The maximum rate of deliveries to one IP address, for the webhooks of all parties together. */
  perSecond: perSecond(),
  /** The maximum rate of one party's deliveries to one IP address, so that no party can use up `perSecond`. */
  partyPerSecond: perSecond(),
});
export type WebhookSetting = Static<typeof WebhookSetting>;

/** A burst has at most as many deliveries as the rate allows in this number of seconds. */
const BURST_SECONDS = 10;

export class Destinations {
  readonly isDevelopment: boolean;
  private readonly denied: BlockList;
  private readonly ofAll: RateLimiter;
  private readonly ofParty: RateLimiter;

  /** `isDevelopment` allows http and the addresses of this machine. `clock` is monotonic, in milliseconds. */
  constructor(
    { deniedNetworks, perSecond, partyPerSecond }: WebhookSetting,
    isDevelopment: boolean,
    clock?: () => number,
  ) {
    this.isDevelopment = isDevelopment;
    this.denied = networkList(deniedNetworks);
    const rate = (perSecond: number) => () => ({ perSecond, burst: perSecond * BURST_SECONDS });
    this.ofAll = new RateLimiter(rate(perSecond), clock);
    this.ofParty = new RateLimiter(rate(partyPerSecond), clock);
  }

  /** Returns whether the address is public. In development mode, the addresses of this machine count as public. */
  isPublic(address: string): boolean {
    return isAllowed(address, this.isDevelopment);
  }

  isDenied(address: string): boolean {
    return this.denied.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }

  /**
   * Counts a delivery to each address and returns 0. If a rate limit is reached, only returns the number of milliseconds
   * to wait.
   */
  take(party: string, addresses: readonly string[]): number {
    const buckets = addresses.flatMap((address) => [
      this.ofAll.bucketOf(address),
      this.ofParty.bucketOf(`${party} ${address}`),
    ]);
    const wait = Math.max(...buckets.map(({ waitMs }) => waitMs));
    if (wait === 0) for (const bucket of buckets) bucket.take();
    return wait;
  }
}

export function networkList(networks: string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address, prefix] = network.split('/') as [string, string | undefined];
    const version = isIP(address);
    const bits = version === 4 ? 32 : 128;
    if (version === 0 || !/^\d{1,3}$/.test(prefix ?? `${bits}`) || network.split('/').length > 2) {
      throw new TypeError(network);
    }
    list.addSubnet(address, Number(prefix ?? bits), version === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
