/** Finds the page of a resource. */
import { idOf, type Role } from '../session/roles.ts';

type Pages = Partial<Record<Role, string>>;

const PAGES: Record<string, Pages> = {
  measurements: { consumer: '/measurements/' },
  reports: { consumer: '/reports/' },
  requisitions: { provider: '/requests/' },
  computations: { duchy: '/computations/' },
  eventGroups: { consumer: '/catalog/', provider: '/event-groups/' },
  eventGroupMetadataDescriptors: { provider: '/schemas/' },
  webhooks: { consumer: '/webhooks/', provider: '/webhooks/', duchy: '/webhooks/' },
};
const KEYS = ['certificates', 'measurementConsumers', 'dataProviders', 'duchies'];

export function pathOf(name: string, role: Role): string | undefined {
  const [collection, id] = [name.split('/').at(-2)!, idOf(name)];
  // A consumer sees a requisition on the page of the requisition's measurement.
  if (collection === 'requisitions' && role === 'consumer')
    return pathOf(name.split('/').slice(0, 4).join('/'), role);
  if (KEYS.includes(collection)) return role === 'operator' ? undefined : '/keys';
  const page = PAGES[collection]?.[role];
  return page && `${page}${encodeURIComponent(id)}`;
}
