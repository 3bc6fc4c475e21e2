import { ApiKey, ApiKeyInput } from '../codecs/apiKey.ts';
import * as s from '../json/schema.ts';
import { PATTERNS } from '../values/names.ts';
import * as row from './route.ts';

const access = { measurementConsumer: 'own', operator: 'any' } as const;
const path = 'measurementConsumers/{measurementConsumer}/apiKeys';

export const API_KEY_ROUTES = [
  {
    ...row.CREATE,
    operation: 'createApiKey',
    path,
    access,
    body: row.created('apiKey', ApiKeyInput, ApiKey),
    response: ApiKey,
    errors: ['MEASUREMENT_CONSUMER_NOT_FOUND', 'TOO_MANY_API_KEYS'],
    summary:
      'Create an API key, with which programs of the consumer call by gRPC; the response shows it, once',
  },
  {
    ...row.LIST,
    operation: 'listApiKeys',
    path,
    access,
    response: s.object({ apiKeys: s.array(ApiKey), nextPageToken: row.nextPageToken }),
    errors: ['MEASUREMENT_CONSUMER_NOT_FOUND'],
    summary: 'List the API keys of a measurement consumer, without the keys themselves',
  },
  {
    ...row.DELETE,
    operation: 'deleteApiKey',
    path: PATTERNS.apiKey,
    access,
    response: ApiKey,
    errors: ['API_KEY_NOT_FOUND'],
    summary: 'Delete an API key, which revokes it; returns what it was',
  },
] as const satisfies readonly row.Route[];
