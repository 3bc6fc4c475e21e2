/** Reads `party.json`, which a party gives to the exchange's operator. The file contains no secrets. */
import { X509Certificate } from 'node:crypto';
import { type PartyFile, PartyFileError, parsePartyFile } from '@measurement-exchange/sdk/onboarding';
import { readJsonObject } from './input.ts';

/** Reads a party file. Throws if its contents are inconsistent, so that they are not sent to the exchange. */
export async function readPartyFile(path: string): Promise<PartyFile> {
  const json = await readJsonObject(path, 'the party.json that mex identity made');
  try {
    return await parsePartyFile(json);
  } catch (error) {
    if (!(error instanceof PartyFileError)) throw error;
    throw new Error(`${path}: ${error.message}. Ask the party for a new one (mex identity).`);
  }
}

/** Returns a certificate's SHA-256 fingerprint. People compare it over a separate channel, such as the phone. */
export function fingerprintOf(certificatePem: string): string {
  return new X509Certificate(certificatePem).fingerprint256;
}
