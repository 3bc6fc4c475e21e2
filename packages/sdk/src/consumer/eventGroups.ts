/** Fetches event groups as a consumer, decrypts their metadata, and decodes it with the provider's message types. */
import { type FileRegistry, fromJson, type JsonValue, type Message, toJson } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { ConsentError, decrypt } from '@measurement-exchange/consent';
import {
  type EventGroup,
  type JsonValue as ExactJson,
  ExchangeError,
  fromBase64,
  readMessage,
  toPlainJson,
} from '@measurement-exchange/contract';
import { type ArgumentsOf, UnexpectedResponse } from '../client/index.ts';
import { Fault } from '../verification/fault.ts';
import { type Dependencies, privateKeysets } from './deps.ts';
import { type MetadataFault, MetadataUnreadable } from './errors.ts';
import { registryOf, unpackEventGroupMetadata } from './eventGroupMetadata.ts';
import { beyondBounds } from './printedBounds.ts';

/** An event group with its decoded metadata. */
export interface DescribedEventGroup {
  eventGroup: EventGroup;
  /** Absent if the event group has no metadata. In a list, also absent if there is an `error`. */
  metadata?: DescribedMetadata;
  error?: MetadataUnreadable;
}

/** An event group's metadata, decrypted and decoded with its data provider's descriptor. */
export interface DescribedMetadata {
  /** The name of the descriptor for decoding the message: `dataProviders/x/eventGroupMetadataDescriptors/y`. */
  descriptor: string;
  typeUrl: string;
  json: JsonValue;
  /** A dynamic message of the type that the descriptor defines. */
  message: Message;
}

/** Selects the event groups to list, using the exchange's filters. */
export type EventGroupFilters = Omit<ArgumentsOf<'listEventGroups'>, 'parent' | 'pageToken'>;

/**
 * The maximum number of cached descriptors. The cache lasts only while one list is read, because a provider may replace
 * a descriptor.
 */
const MAX_REGISTRIES = 100;
type Registries = Map<string, Promise<FileRegistry>>;

export async function readEventGroup(deps: Dependencies, name: string): Promise<DescribedEventGroup> {
  const eventGroup = await deps.client.getEventGroup({ name, signal: deps.signal });
  return described(eventGroup, await metadataOf(deps, eventGroup, new Map()));
}

export async function* listEventGroups(
  deps: Dependencies,
  filters: EventGroupFilters = {},
): AsyncGenerator<DescribedEventGroup> {
  const registries: Registries = new Map();
  for await (const eventGroup of deps.client.listEventGroups({ parent: deps.credentials.name, ...filters })) {
    try {
      yield described(eventGroup, await metadataOf(deps, eventGroup, registries));
    } catch (error) {
      if (!(error instanceof MetadataUnreadable)) throw error;
      yield { eventGroup, error };
    }
  }
}

function described(eventGroup: EventGroup, metadata: DescribedMetadata | undefined): DescribedEventGroup {
  return { eventGroup, ...(metadata && { metadata }) };
}

/** An event group's metadata before decoding: bytes, or JSON if the exchange already decoded it. */
interface Given {
  descriptor: string;
  typeUrl: string;
  content: { bytes: Uint8Array } | { json: JsonValue };
}

async function metadataOf(
  deps: Dependencies,
  { name = '', encryptedMetadata }: EventGroup,
  registries: Registries,
): Promise<DescribedMetadata | undefined> {
  const unreadable = (code: MetadataFault, message: string, cause?: unknown) =>
    new MetadataUnreadable(name, code, message, cause);
  if (encryptedMetadata === undefined) return undefined;
  const { ciphertext, metadata } = encryptedMetadata;
  if (ciphertext === undefined && metadata === undefined) return undefined;

  const given = ciphertext ? await decrypted(ciphertext) : readable();
  const registry = await registryFor(given.descriptor);
  const type = registry.getMessage(given.typeUrl.slice(given.typeUrl.lastIndexOf('/') + 1));
  if (type === undefined) {
    throw unreadable('TYPE_UNKNOWN', `${given.descriptor} does not define ${given.typeUrl}`);
  }
  try {
    const { content } = given;
    const message =
      'bytes' in content ? readMessage(type, content.bytes) : fromJson(type, content.json, { registry });
    const json = toJson(type, message, { registry });
    const tooLarge = beyondBounds([given.descriptor, given.typeUrl, json]);
    if (tooLarge !== undefined) {
      throw unreadable('METADATA_TOO_LARGE', `the metadata is too large: ${tooLarge}`);
    }
    return { descriptor: given.descriptor, typeUrl: given.typeUrl, json, message };
  } catch (error) {
    if (error instanceof MetadataUnreadable) throw error;
    const message = `the metadata is not a ${type.typeName}: ${(error as Error).message}`;
    throw unreadable('METADATA_MALFORMED', message, error);
  }

  async function decrypted(bytes: Uint8Array): Promise<Given> {
    const plaintext = await decryptWithAny(privateKeysets(deps), bytes).catch((error) => {
      if (!(error instanceof ConsentError)) throw error;
      throw unreadable(error.code, error.message, error);
    });
    try {
      const { eventGroupMetadataDescriptor, typeUrl, value } = unpackEventGroupMetadata(plaintext);
      return { descriptor: eventGroupMetadataDescriptor, typeUrl, content: { bytes: value } };
    } catch (error) {
      const message = `the plaintext is not an EventGroup.Metadata: ${(error as Error).message}`;
      throw unreadable('METADATA_MALFORMED', message, error);
    }
  }

  /**
   * Reads unencrypted metadata. The exchange returns the message as JSON, or as bytes if the descriptor no longer
   * contains the message's type.
   */
  function readable(): Given {
    const { eventGroupMetadataDescriptor: descriptor, metadata: any } = metadata!;
    const { '@type': type, ...fields } = (toPlainJson(any as ExactJson) ?? {}) as Record<string, JsonValue>;
    if (typeof type === 'string') return { descriptor, typeUrl: type, content: { json: fields } };
    const bytes = typeof fields.value === 'string' ? fromBase64(fields.value) : undefined;
    if (typeof fields.typeUrl !== 'string' || bytes === undefined) {
      throw unreadable('METADATA_MALFORMED', 'the metadata has neither @type nor typeUrl and value');
    }
    return { descriptor, typeUrl: fields.typeUrl, content: { bytes } };
  }

  async function registryFor(descriptor: string): Promise<FileRegistry> {
    const registry = registries.get(descriptor) ?? fetchRegistry(deps, descriptor);
    registries.delete(descriptor);
    registries.set(descriptor, registry);
    if (registries.size > MAX_REGISTRIES) registries.delete(registries.keys().next().value!);
    try {
      return await registry;
    } catch (error) {
      if (error instanceof DescriptorFault) throw unreadable(error.code, error.message, error);
      throw error;
    }
  }
}

async function decryptWithAny(keysets: Uint8Array[], ciphertext: Uint8Array): Promise<Uint8Array> {
  let fault: ConsentError | undefined;
  for (const keyset of keysets) {
    try {
      return await decrypt(keyset, ciphertext);
    } catch (error) {
      if (!(error instanceof ConsentError)) throw error;
      // Prefer the error of a matching key, because it says more than NO_MATCHING_KEY.
      if (fault === undefined || fault.code === 'NO_MATCHING_KEY') fault = error;
    }
  }
  throw fault;
}

class DescriptorFault extends Fault<
  'DESCRIPTOR_NOT_FOUND' | 'DESCRIPTOR_UNAVAILABLE' | 'DESCRIPTOR_MALFORMED'
> {}

async function fetchRegistry({ client, signal }: Dependencies, name: string): Promise<FileRegistry> {
  const asked = { name, descriptorSetEncoding: 'BASE64', signal } as const;
  const { descriptorSet } = await client.getEventGroupMetadataDescriptor(asked).catch((error) => {
    // Treat a malformed name like an unknown one, because decrypted metadata may contain any text as the name.
    const unknown = error instanceof ExchangeError && ['NOT_FOUND', 'INVALID_ARGUMENT'].includes(error.code);
    if (unknown) throw new DescriptorFault('DESCRIPTOR_NOT_FOUND', `there is no descriptor ${name}`);
    // Report an error response as a fault of this descriptor, so that event groups with other descriptors can still be
    // read.
    const isResponse = error instanceof ExchangeError || error instanceof UnexpectedResponse;
    if (!isResponse || (error as ExchangeError).code === 'UNAUTHENTICATED') throw error;
    throw new DescriptorFault('DESCRIPTOR_UNAVAILABLE', `${name} cannot be read: ${error.message}`);
  });
  try {
    return registryOf(readMessage(FileDescriptorSetSchema, fromBase64(descriptorSet as string)!));
  } catch (error) {
    const message = `${name} cannot be linked: ${(error as Error).message}`;
    throw new DescriptorFault('DESCRIPTOR_MALFORMED', message);
  }
}
