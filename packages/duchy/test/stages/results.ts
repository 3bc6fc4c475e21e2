import { fromBinary } from '@bufbuild/protobuf';
import {
  decrypt,
  parseCertificate,
  unpackSignedMessage,
  verifySignature,
} from '@measurement-exchange/consent';
import { type Measurement, specs } from '@measurement-exchange/contract';
import { findResultKeyset } from '@measurement-exchange/sdk';
import type { DuchyWorld } from './world.ts';

/** Opens the only result of a measurement, and checks that the aggregator signed the result. */
export async function openResult(
  { acme, of }: DuchyWorld,
  { name }: Measurement,
): Promise<specs.Measurement_Result> {
  const measurement = await acme.client.getMeasurement({ name: name! });
  const { results = [] } = measurement;
  if (results.length !== 1) throw new Error(`${name} has ${results.length} results`);
  const [{ certificate, encryptedResult }] = results as [(typeof results)[number]];
  const { duchy } = of('AGGREGATOR');
  if (certificate !== duchy.certificate) throw new Error(`${certificate} signed the result`);
  const keyset = await findResultKeyset(acme, measurement);
  const signed = unpackSignedMessage(await decrypt(keyset!, encryptedResult.ciphertext));
  const { x509Der } = await duchy.client.getCertificate({ name: certificate });
  await verifySignature(signed, parseCertificate(x509Der));
  return fromBinary(specs.Measurement_ResultSchema, signed.message);
}

export function reachOf({ reach }: specs.Measurement_Result): number {
  return Number(reach!.value);
}
