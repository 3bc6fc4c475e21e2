/** The pages of resources. */
import { idOf, type Role } from '../session/roles.ts';

type Pages = Partial<Record<Role, string>>;

const PAGES: Record<string, Pages> = {
  measurements: { consumer: '/measurements/' },
  requisitions: { provider: '/requests/' },
  computations: { duchy: '/computations/' },
  eventGroups: { consumer: '/catalog/', provider: '/event-groups/' },
  eventGroupMetadataDescriptors: { provider: '/schemas/' },
  webhooks: { consumer: '/webhooks/', provider: '/webhooks/', duchy: '/webhooks/' },
};
const KEYS = ['certificates', 'measurementConsumers', 'dataProviders', 'duchies'];

/** Returns the path of a resource's page, or undefined if the role has no page for it. */
export function pathOf(name: string, role: Role): string | undefined {
  const [collection, id] = [name.split('/').at(-2)!, idOf(name)];
  // A consumer sees the requisitions of a measurement on the page of the measurement.
  if (collection === 'requisitions' && role === 'consumer')
    return pathOf(name.split('/').slice(0, 4).join('/'), role);
  if (KEYS.includes(collection)) return role === 'operator' ? undefined : '/keys';
  const page = PAGES[collection]?.[role];
  return page && `${page}${encodeURIComponent(id)}`;
}
