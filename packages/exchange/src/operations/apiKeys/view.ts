import type { ApiKey } from '@measurement-exchange/contract';
import { type ApiKeyRecord, apiKeyName } from '../../domain/apiKey.ts';

/** Omits the key itself, which only the response that creates it includes. */
export function viewApiKey({ consumer, id, ...apiKey }: ApiKeyRecord): ApiKey {
  return { name: apiKeyName(consumer, id), ...apiKey };
}
