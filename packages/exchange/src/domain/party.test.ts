import { create as make, toBinary } from '@bufbuild/protobuf';
import { type PartyInput, specs } from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import { bindPublicKey, capabilitiesOf, newParty, partyNotFound, setState, updateParty } from './party.ts';

const NOW = '2026-01-01T00:00:00.000000Z';
const LATER = '2026-01-01T00:00:01.000000Z';
const signed = (data: number[]) => ({
  message: toBinary(
    specs.EncryptionPublicKeySchema,
    make(specs.EncryptionPublicKeySchema, { data: Uint8Array.from(data) }),
  ),
  signature: Uint8Array.of(1),
});
const publicKey = signed([1]);
const interval = { startTime: NOW, endTime: LATER };
const full: PartyInput = {
  displayName: 'TV',
  publicKey,
  capabilities: { liquidLegionsV2Supported: true, honestMajorityShareShuffleSupported: true },
  dataAvailabilityInterval: interval,
};

const refusal = (field: string, description: string) =>
  expect.objectContaining({ reason: 'INVALID_FIELD_VALUE', violations: [{ field, description }] });

describe('a party', () => {
  it('is active when it is created, and has only the given fields', () => {
    const blank = {
      name: 'dataProviders/tv',
      displayName: '',
      state: 'ACTIVE',
      publicKey: undefined,
      publicKeyCertificate: undefined,
      protocols: [],
      availability: undefined,
      endpoint: undefined,
      version: 1,
      createTime: NOW,
      updateTime: NOW,
    };
    expect(newParty('dataProviders/tv', {}, NOW)).toEqual(blank);
    expect(newParty('dataProviders/tv', full, NOW)).toEqual({
      ...blank,
      displayName: 'TV',
      publicKey,
      protocols: ['liquidLegionsV2', 'honestMajorityShareShuffle'],
      availability: interval,
    });
  });

  it('keeps the fields that an update omits', () => {
    const before = newParty('dataProviders/tv', full, NOW);
    expect(updateParty(before, {}, LATER)).toEqual({ ...before, version: 2, updateTime: LATER });
    const changed: PartyInput = {
      displayName: 'Radio',
      publicKey: signed([2]),
      capabilities: { liquidLegionsV2Supported: false, reachOnlyLiquidLegionsV2Supported: true },
      dataAvailabilityInterval: { startTime: LATER },
    };
    expect(updateParty(before, changed, LATER)).toEqual({
      ...before,
      displayName: 'Radio',
      publicKey: changed.publicKey,
      protocols: ['reachOnlyLiquidLegionsV2'],
      availability: { startTime: LATER },
      version: 2,
      updateTime: LATER,
    });
    expect(updateParty(before, { capabilities: {}, displayName: '' }, LATER)).toMatchObject({
      protocols: [],
      displayName: '',
    });
  });

  it('gets a new version when its state changes, and is unchanged if the state is set again', () => {
    const before = newParty('dataProviders/tv', {}, NOW);
    const suspended = setState(before, 'SUSPENDED', NOW);
    const updateTime = '2026-01-01T00:00:00.000001Z';
    expect(suspended).toEqual({ ...before, state: 'SUSPENDED', version: 2, updateTime });
    expect(setState(suspended, 'SUSPENDED', LATER)).toBe(suspended);
    expect(setState(before, 'ACTIVE', LATER)).toBe(before);
    expect(setState(suspended, 'ACTIVE', LATER)).toEqual({ ...before, version: 3, updateTime: LATER });
  });

  it('gets a new version when the certificate of its public key is set', () => {
    const before = newParty('dataProviders/tv', full, NOW);
    const after = { ...before, publicKeyCertificate: 'c', version: 2, updateTime: LATER };
    expect(bindPublicKey(before, 'c', LATER)).toEqual(after);
  });

  it('rejects an end of data availability that is not after the start', () => {
    const of = (dataAvailabilityInterval: PartyInput['dataAvailabilityInterval']) =>
      newParty('dataProviders/tv', { dataAvailabilityInterval }, NOW);
    const refused = refusal('dataAvailabilityInterval.endTime', 'must be after startTime');
    expect(of({ startTime: LATER }).availability).toEqual({ startTime: LATER });
    expect(() => of({ startTime: NOW, endTime: NOW })).toThrow(refused);
    expect(() => of({ startTime: LATER, endTime: NOW })).toThrow(refused);
  });

  it.each([
    ['https://duchy.example.com', 'https://duchy.example.com'],
    ['https://duchy.example.com/', 'https://duchy.example.com'],
    ['HTTPS://Duchy.example.com:443', 'https://duchy.example.com'],
    ['https://duchy.example.com:8443/', 'https://duchy.example.com:8443'],
    ['https://[2606:4700::1]:8443', 'https://[2606:4700::1]:8443'],
    ['https://8.8.8.8:8443', 'https://8.8.8.8:8443'],
  ])('accepts the endpoint %s', (endpoint, origin) => {
    expect(newParty('duchies/a', { endpoint }, NOW).endpoint).toBe(origin);
    expect(updateParty(newParty('duchies/a', {}, NOW), { endpoint }, LATER).endpoint).toBe(origin);
  });

  it.each([
    ...['', 'duchy.example.com', '//duchy.example.com', '/path', 'ftp://duchy.example.com', 'https://'],
    ...['https://duchy.example.com/path', 'https://duchy.example.com/?', 'https://duchy.example.com/#'],
    ...[
      'https://duchy.example.com?q=1',
      'https://user@duchy.example.com',
      'https://user:pw@duchy.example.com',
    ],
    ...[
      ' https://duchy.example.com',
      'https://duchy .example.com',
      'https:\\\\duchy.example.com',
      'https:duchy',
    ],
    ...['https://duchy.example.com:99999', 'https://[::1', 'https://duchy.example.com\\path'],
  ])('rejects the endpoint %s', (endpoint) => {
    const refused = refusal(
      'endpoint',
      'must be a URL such as https://duchy.example.com:8443, without path, query or credentials',
    );
    expect(() => newParty('duchies/a', { endpoint }, NOW, 'anywhere')).toThrow(refused);
    expect(() => updateParty(newParty('duchies/a', {}, NOW), { endpoint }, LATER, 'anywhere')).toThrow(
      refused,
    );
  });

  it.each([
    ...['127.0.0.1', '10.1.2.3', '192.168.0.1', '169.254.169.254', '100.64.0.1', '[::1]', '[fd00::1]'],
    ...['[::ffff:10.1.2.3]', '0x7f.1', '2130706433', 'localhost', 'duchy', 'duchy.internal', 'duchy.local.'],
  ])('accepts the private endpoint %s only if the operator allows it', (text) => {
    const endpoint = `https://${text}:8443`;
    const host = new URL(endpoint).hostname.replace(/^\[|\]$|\.$/g, '');
    const refused = refusal(
      'endpoint',
      `must be public: ${host} is not, unless the operator adds it to allowedPrivateHosts`,
    );
    expect(() => newParty('duchies/a', { endpoint }, NOW)).toThrow(refused);
    expect(() => updateParty(newParty('duchies/a', {}, NOW), { endpoint }, LATER)).toThrow(refused);
    expect(() => newParty('duchies/a', { endpoint }, NOW, { privateHosts: ['other'] })).toThrow(refused);
    const { origin } = new URL(endpoint);
    expect(newParty('duchies/a', { endpoint }, NOW, { privateHosts: ['other', host] }).endpoint).toBe(origin);
    expect(newParty('duchies/a', { endpoint }, NOW, 'anywhere').endpoint).toBe(origin);
    expect(() =>
      newParty('duchies/a', { endpoint: `http://${text}` }, NOW, { privateHosts: [host] }),
    ).toThrow(refusal('endpoint', 'must be https'));
  });

  it('accepts an http endpoint only if http is allowed', () => {
    const endpoint = 'http://127.0.0.1:9001';
    const refused = refusal('endpoint', 'must be https');
    expect(newParty('duchies/a', { endpoint }, NOW, 'anywhere').endpoint).toBe(endpoint);
    expect(() => newParty('duchies/a', { endpoint }, NOW)).toThrow(refused);
    expect(() => updateParty(newParty('duchies/a', {}, NOW), { endpoint }, LATER)).toThrow(refused);
  });

  it('rejects a public key that is not an EncryptionPublicKey with data', () => {
    const of = (message: Uint8Array) =>
      newParty('dataProviders/tv', { publicKey: { message, signature: Uint8Array.of(1) } }, NOW);
    const refused = refusal('publicKey.message', 'must be a serialized EncryptionPublicKey');
    expect(() => of(new Uint8Array())).toThrow(refused);
    expect(() => of(signed([]).message)).toThrow(refused);
    expect(() => of(Buffer.from('no protobuf'))).toThrow(refused);
  });

  it('returns its protocols as they were set', () => {
    expect(capabilitiesOf([])).toEqual({});
    expect(capabilitiesOf(['liquidLegionsV2', 'reachOnlyLiquidLegionsV2'])).toEqual({
      liquidLegionsV2Supported: true,
      reachOnlyLiquidLegionsV2Supported: true,
    });
  });

  it.each([
    ['measurementConsumers/x', 'MEASUREMENT_CONSUMER_NOT_FOUND', 'measurementConsumer'],
    ['dataProviders/x', 'DATA_PROVIDER_NOT_FOUND', 'dataProvider'],
    ['duchies/x', 'DUCHY_NOT_FOUND', 'duchy'],
  ])('%s that does not exist is reported as %s', (name, reason, kind) => {
    const error = partyNotFound(name);
    expect(error).toMatchObject({ reason, metadata: { [kind]: name } });
    expect(error.message).toBe(`${name} does not exist.`);
  });
});
