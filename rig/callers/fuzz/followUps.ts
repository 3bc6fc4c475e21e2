/**
 * Follows up on a successful request: keeps the returned names for later requests, and checks that later reads agree
 * with the response.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Reply } from '@measurement-exchange/testkit/exchange';
import type { Built, Operation } from './plan.ts';
import type { State } from './state.ts';

type Send = (next: Built) => Promise<{ response: Reply; problems: string[] }>;

/** Sends the requests that follow up on a successful request, and yields the problems found. */
export async function* followUps(
  sent: Built,
  response: Reply,
  state: State,
  send: Send,
): AsyncGenerator<string> {
  const { json } = response;
  const { operation } = sent.plan.operation.route;
  const created = operation.startsWith('create') && sent.method === 'POST' && typeof json?.name === 'string';
  for (const resource of [
    json,
    ...Object.values(json ?? {})
      .filter(Array.isArray)
      .flat(),
  ]) {
    if (typeof resource?.name === 'string' && resource.name.includes('/')) state.learn(resource.name);
  }
  if (typeof json?.nextPageToken === 'string') yield* nextPage(sent, json.nextPageToken, state, send);
  if (!created) return;
  if (operation === 'createMeasurement') yield* openRequisitions(sent, json.name, state, send);
  const reader = readerOf(sent);
  if (reader === undefined) return;
  const read = await send({ ...plain(sent, reader), target: `/v2alpha/${json.name}` });
  yield* read.problems;
  if (read.response.status !== 200)
    yield `${json.name} was made and cannot be read: ${read.response.text.slice(0, 200)}`;
  // Fields that no operation may change must have the same values as in the response.
  else
    for (const field of ['name', 'createTime', 'measurementSpec', 'dataProviders', 'x509Der']) {
      if (!isDeepStrictEqual(read.response.json[field], json[field]))
        yield `${field} of ${json.name} reads differently`;
    }
}

/**
 * The next page is fetched for one list in four. If every list were read to its end, these requests would be most of
 * the work.
 */
const FOLLOWED = 4;

async function* nextPage(sent: Built, token: string, state: State, send: Send): AsyncGenerator<string> {
  const [path] = sent.target.split('?') as [string];
  state.rememberPageToken({ list: path, token });
  if (sent.plan.salt % FOLLOWED !== 0 || sent.plan.twists.length > 0) return;
  const rest = sent.target
    .slice(path.length + 1)
    .split('&')
    .filter((pair) => pair !== '' && !pair.startsWith('pageToken='));
  const target = `${path}?${[...rest, `pageToken=${encodeURIComponent(token)}`].join('&')}`;
  const { response, problems } = await send({ ...plain(sent, sent.plan.operation), target });
  yield* problems;
  if (response.status !== 200) yield `the next page is rejected: ${response.text.slice(0, 200)}`;
}

/** Remembers the requisitions of a new measurement, so that later requests fulfill or refuse them. */
async function* openRequisitions(
  sent: Built,
  name: string,
  state: State,
  send: Send,
): AsyncGenerator<string> {
  const lister = sent.plan.operation.siblings.find(
    ({ route }) => route.operation === 'listMeasurementRequisitions',
  )!;
  const { response, problems } = await send({
    ...plain(sent, lister),
    target: `/v2alpha/${name}/requisitions`,
  });
  yield* problems;
  if (response.status !== 200) yield `the requisitions of ${name} cannot be read`;
  for (const { dataProvider, etag, name: seen } of response.json?.requisitions ?? []) {
    const own = `${dataProvider}/requisitions/${seen.split('/').at(-1)}`;
    for (const known of [own, seen]) state.learn(known);
    const nonce = sent.filled?.nonces?.get(dataProvider);
    if (nonce !== undefined) state.rememberOpen({ provider: dataProvider, name: own, etag, nonce });
  }
}

function readerOf({ plan }: Built): Operation | undefined {
  const { route, siblings } = plan.operation;
  const collection = route.path.split('/').at(-1)!;
  return siblings.find(
    (one) =>
      one.route.method === 'GET' &&
      one.route.verb === undefined &&
      one.route.path.startsWith(`${route.path}/{`) &&
      one.route.path.split('/').at(-2) === collection,
  );
}

/** A GET request by the same caller, without twists (changes that make a request wrong or hostile). */
function plain(sent: Built, operation: Operation): Built {
  const { body: _body, ...rest } = sent;
  const plan = { ...sent.plan, operation, twists: [], body: undefined };
  return {
    ...rest,
    plan,
    method: 'GET',
    query: [],
    headers: {},
    mustReject: false,
    inOrder: false,
    filled: undefined,
  };
}
