import type { ApiKey } from '@measurement-exchange/contract';
import { type ApiKeyRecord, apiKeyName } from '../../domain/apiKey.ts';

/** Omits the key itself, because only the response to the request that creates the key contains it. */
export function viewApiKey({ consumer, id, ...apiKey }: ApiKeyRecord): ApiKey {
  return { name: apiKeyName(consumer, id), ...apiKey };
}
