/** Reads a party.json file in the browser, with the same checks as `mex admin onboard`. */
import {
  type CertificateFacts,
  describeCertificate,
  type PartyFile,
  PartyFileError,
  parsePartyFile,
} from '@measurement-exchange/sdk/onboarding';

export interface CheckedFile {
  file: PartyFile;
  certificate: CertificateFacts;
}

export async function checkPartyFile(text: string): Promise<CheckedFile> {
  const json = parse(text);
  try {
    const file = await parsePartyFile(json);
    return { file, certificate: await describeCertificate(file.certificatePem) };
  } catch (error) {
    if (!(error instanceof PartyFileError)) throw error;
    throw new Error(
      `This file cannot be used: ${error.message}. Ask the party for a new one (mex identity).`,
    );
  }
}

function parse(text: string): object {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error('This is not JSON. Give the whole party.json that mex identity made.');
  }
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json;
  throw new Error('This is not a party file. Give the party.json that mex identity made.');
}
