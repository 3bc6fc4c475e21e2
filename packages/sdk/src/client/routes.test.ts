/**
 * Tests each row of the routes table except streams: the exchange can read the request that the client method sends,
 * and the method returns the exchange's response.
 */
import {
  matchRoute,
  parseJson,
  querySchemaOf,
  ROUTES,
  type Route,
  readRequest,
  toJson,
} from '@measurement-exchange/contract';
import { expect, it } from 'vitest';
import { sampleOf, withIds } from '../../test/client/samples.ts';
import { BASE, json, scripted } from '../../test/client/scripted.ts';
import type { CallArguments } from './request.ts';

type Method = (args: CallArguments) => Promise<unknown> | { page: () => Promise<unknown> };

/** Returns the argument that names the resource, the parent or the collection of a path. */
function targetOf(path: string): CallArguments {
  if (!path.includes('/')) return { collection: path };
  return path.endsWith('}')
    ? { name: withIds(path) }
    : { parent: withIds(path.slice(0, path.lastIndexOf('/'))) };
}

const CALLS = (ROUTES as readonly Route[]).filter(({ streams }) => !streams);
/** The routes by operation and path. If an operation has two HTTP methods, the client uses the first. */
const ROWS = Map.groupBy(CALLS, ({ operation, path }) => `${operation} ${path}`);

it.each(Array.from(ROWS.values(), ([first]) => first!))('$operation sends $method $path', async (route) => {
  const query = sampleOf(querySchemaOf(route)) as Record<string, unknown>;
  const body = route.body && (sampleOf(route.body.schema) as object);
  const response = sampleOf(route.response);
  const { client, sent } = scripted([json(toJson(route.response, response as never))]);

  const call = client[route.operation as keyof typeof client] as Method;
  const called = call({ ...targetOf(route.path), ...query, ...(body && { body }) });
  expect(await ('page' in called ? called.page() : called)).toEqual(response);

  expect(sent).toHaveLength(1);
  const [path, rawQuery = ''] = sent[0]!.url.slice(BASE.length).split('?');
  const found = matchRoute(sent[0]!.method, path!);
  expect(found.route).toBe(route);
  const text = sent[0]!.body;
  const read = readRequest(route, found.params, rawQuery, text === null ? undefined : parseJson(text));
  expect(read.path).toBe(withIds(route.path));
  // The exchange reads bytes as Buffer. structuredClone turns them into Uint8Array.
  expect(structuredClone(read.query)).toEqual(query);
  expect(structuredClone(read.body)).toEqual(body);
});
