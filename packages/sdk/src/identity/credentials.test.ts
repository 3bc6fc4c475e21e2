import { expect, it } from 'vitest';
import { type CredentialsJson, readCredentials } from './credentials.ts';

const JSON_FORM: CredentialsJson = {
  name: 'dataProviders/x',
  certificate: 'dataProviders/x/certificates/c',
  privateKeyPem: '-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----',
  encryptionPublicKey: 'AQI=',
  encryptionPrivateKey: 'AwQ=',
};

it('readCredentials decodes keysets from base64, and returns other fields unchanged', () => {
  const { encryptionPublicKey, encryptionPrivateKey, ...rest } = readCredentials(JSON_FORM);
  expect([...encryptionPublicKey, ...encryptionPrivateKey]).toEqual([1, 2, 3, 4]);
  const { encryptionPublicKey: _public, encryptionPrivateKey: _private, ...texts } = JSON_FORM;
  expect(rest).toEqual(texts);
});

it.each([
  ['certificate', ''],
  ['privateKeyPem', undefined],
  ['name', 3],
  ['encryptionPrivateKey', 'not base64: secret'],
] as const)('readCredentials names an invalid %s in the error, without its value', (member, value) => {
  const read = () => readCredentials({ ...JSON_FORM, [member]: value } as CredentialsJson);
  expect(read).toThrow(member);
  expect(read).not.toThrow('secret');
});
