/**
 * Converts REST requests to RPCs with the same content, so that tests, the rig and the benchmarks can use either API.
 */
import { create } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import { findSignatureAlgorithm, specs, TYPE_URLS } from '@measurement-exchange/contract';
import { CreateMeasurementRequestSchema } from '@measurement-exchange/contract/rpc';
import type { measurementRequest } from './requests.ts';

const bytes = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'));

/**
 * Converts the body of a REST request that creates a measurement to an RPC request. Leaves the field `format` of the
 * public keys unset.
 */
export function createRequestOf(
  parent: string,
  body: ReturnType<typeof measurementRequest> & { measurementReferenceId?: string },
  requestId = '',
) {
  const { message, signature, signatureAlgorithm: algorithm } = body.measurementSpec;
  return create(CreateMeasurementRequestSchema, {
    parent,
    requestId,
    measurement: {
      measurementConsumerCertificate: body.measurementConsumerCertificate,
      measurementReferenceId: body.measurementReferenceId ?? '',
      measurementSpec: {
        message: { typeUrl: TYPE_URLS.MeasurementSpec, value: bytes(message) },
        signature: bytes(signature),
        signatureAlgorithmOid: findSignatureAlgorithm(algorithm)!.oid,
      },
      dataProviders: Object.entries(body.dataProviders).map(([key, entry]) => ({
        key,
        value: {
          dataProviderCertificate: entry.dataProviderCertificate,
          dataProviderPublicKey: anyPack(
            specs.EncryptionPublicKeySchema,
            create(specs.EncryptionPublicKeySchema, { data: bytes(entry.dataProviderPublicKey.data) }),
          ),
          encryptedRequisitionSpec: {
            ciphertext: bytes(entry.encryptedRequisitionSpec.ciphertext),
            typeUrl: TYPE_URLS.SignedMessage,
          },
          nonceHash: bytes(entry.nonceHash),
        },
      })),
    },
  });
}
