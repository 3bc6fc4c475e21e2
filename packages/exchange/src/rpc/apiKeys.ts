/** Implements the ApiKeys service, which creates and deletes API keys of measurement consumers. */
import { create } from '@bufbuild/protobuf';
import type { ServiceImpl } from '@connectrpc/connect';
import type { ApiKey as ApiKeyResource } from '@measurement-exchange/contract';
import { type ApiKey, ApiKeySchema, type ApiKeys } from '@measurement-exchange/contract/rpc';
import { type Api, idsIn } from './api.ts';
import { given } from './values.ts';

export function apiKeys(api: Api): Partial<ServiceImpl<typeof ApiKeys>> {
  return {
    createApiKey: api.unary(async ({ parent, apiKey }, call) => {
      const body = { displayName: given(apiKey?.nickname), description: given(apiKey?.description) };
      const params = idsIn('measurementConsumer', parent, 'parent');
      return toApiKey(await call.run('createApiKey', params, { body, within: 'apiKey' }));
    }),

    deleteApiKey: api.unary(async ({ name }, call) =>
      toApiKey(await call.run('deleteApiKey', idsIn('apiKey', name))),
    ),
  };
}

/** Translates an API key. `authenticationKey` is set only in the response to the request that creates the key. */
function toApiKey({ name, displayName, description, authenticationKey }: ApiKeyResource): ApiKey {
  return create(ApiKeySchema, { name, nickname: displayName, description, authenticationKey });
}
