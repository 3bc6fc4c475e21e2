/**
 * Converts event groups to JSON. The JSON also contains the decoded metadata, or an error if decoding the metadata
 * failed.
 */
import type { EventGroup } from '@measurement-exchange/contract';
import type { DescribedEventGroup } from '@measurement-exchange/sdk';

export type DecodedEventGroup = EventGroup & {
  decodedMetadata?: { eventGroupMetadataDescriptor: string; typeUrl: string; message: unknown };
  metadataError?: { code: string; message: string };
};

export function decoded({ eventGroup, metadata, error }: DescribedEventGroup): DecodedEventGroup {
  return {
    ...eventGroup,
    ...(metadata && {
      decodedMetadata: {
        eventGroupMetadataDescriptor: metadata.descriptor,
        typeUrl: metadata.typeUrl,
        message: metadata.json,
      },
    }),
    ...(error && { metadataError: { code: error.code, message: error.message } }),
  };
}

const SHOWN_AT_ONCE = 50;

/** Collects event groups into pages. Each page except the last has a `nextPageToken`. */
export async function* decodedPages(groups: AsyncIterable<DescribedEventGroup>) {
  let eventGroups: DecodedEventGroup[] = [];
  for await (const group of groups) {
    if (eventGroups.length === SHOWN_AT_ONCE) {
      yield { eventGroups, nextPageToken: 'more' };
      eventGroups = [];
    }
    eventGroups.push(decoded(group));
  }
  yield { eventGroups };
}

export function metadataKind(group: DecodedEventGroup): string | undefined {
  const { encryptedMetadata, decodedMetadata, metadataError } = group;
  if (metadataError) return `unreadable: ${metadataError.code}`;
  if (decodedMetadata) return decodedMetadata.typeUrl.replace(/^.*\//, '');
  if (encryptedMetadata?.ciphertext) return 'encrypted';
  return encryptedMetadata?.metadata ? 'readable' : undefined;
}
