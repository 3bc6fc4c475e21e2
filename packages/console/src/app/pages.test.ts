import { expect, it } from 'vitest';
import { EVERYONE } from '../pages/page.ts';
import { pathOf } from '../parts/links.ts';
import type { Role } from '../session/roles.ts';
import { PAGES } from './pages.ts';

const pagesOf = (role: Role) => PAGES.filter(({ roles }) => roles.includes(role));

it('each role has only one page per path and one navigation entry per key', () => {
  for (const role of EVERYONE) {
    const paths = pagesOf(role).map(({ path }) => path);
    const keys = pagesOf(role).flatMap(({ nav }) => nav?.key ?? []);
    expect(paths).toEqual([...new Set(paths)]);
    expect(keys).toEqual([...new Set(keys)]);
  }
});

it('a role has the page that pathOf returns for the name of a resource', () => {
  const names: [Role, string][] = [
    ['consumer', 'measurementConsumers/acme/measurements/x'],
    ['consumer', 'measurementConsumers/acme/eventGroups/x'],
    ['consumer', 'measurementConsumers/acme/reports/x'],
    ['provider', 'dataProviders/streamly/requisitions/x'],
    ['provider', 'dataProviders/streamly/eventGroups/x'],
    ['provider', 'dataProviders/streamly/eventGroupMetadataDescriptors/x'],
    ['duchy', 'duchies/alpha/computations/x'],
    ['duchy', 'duchies/alpha/certificates/x'],
    ['duchy', 'duchies/alpha/webhooks/x'],
  ];
  for (const [role, name] of names) {
    const path = pathOf(name, role)!.replace(/\/x$/, '/$id');
    expect(pagesOf(role).map((page) => page.path)).toContain(path);
  }
  expect(pagesOf('consumer').map(({ path }) => path)).toContain('/new');
});
