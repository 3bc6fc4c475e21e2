/**
 * Tests metadata schemas under advisory checks: every change is accepted, and findings report breaking changes and
 * types that another descriptor defines. Also tests the diff of two schemas.
 */

import { type DevParty, type Reply, useExchange } from '@measurement-exchange/testkit/exchange';
import {
  addEventGroups,
  BRAND,
  BUDGET,
  create,
  DRY_RUN,
  parentOf,
  schema,
  update,
} from '@measurement-exchange/testkit/schemas';
import { castOf, errorOf, get, lineOf, ok, post, stored } from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';

describe('under advisory checks', () => {
  let acme: DevParty;
  let streamly: DevParty;
  let chirper: DevParty;
  const exchange = useExchange();
  beforeAll(() => {
    ({ acme, streamly, chirper } = castOf(exchange));
  });

  describe('an update', () => {
    it('that only adds fields is accepted without findings', async () => {
      const { name } = await ok(create(exchange, streamly, schema('adds', BUDGET)));
      const reply = await update(exchange, streamly, name, schema('adds', BUDGET, BRAND));
      expect((await ok(reply)).descriptorSet).toEqual(schema('adds', BUDGET, BRAND));
      expect(reply.headers.has('x-mex-findings')).toBe(false);
    });

    it('that breaks readers is accepted, and each breaking change is counted and logged as a finding', async () => {
      const { name } = await ok(create(exchange, streamly, schema('breaks', BUDGET, BRAND)));
      const broken = schema('breaks', { ...BUDGET, type: 'TYPE_STRING' });
      const reply = await update(exchange, streamly, name, broken);
      expect(await ok(reply)).toEqual({ name, descriptorSet: broken });
      expect(reply.headers.get('x-mex-findings')).toBe('2');
      expect((await lineOf(exchange, reply)).findings).toEqual([
        'SCHEMA_CHANGE_BREAKING',
        'SCHEMA_CHANGE_BREAKING',
      ]);
      expect((await get(exchange, acme, name)).descriptorSet).toEqual(broken);
    });

    it('that would break readers returns a finding with validateOnly, and counts the event groups to migrate', async () => {
      const { name } = await ok(create(exchange, streamly, schema('dry', BUDGET, BRAND)));
      await addEventGroups(exchange, streamly, name, 'ACTIVE', 'DELETED', 'ACTIVE');
      const before = await stored(exchange);
      const reply = await update(exchange, streamly, name, schema('dry', BRAND), DRY_RUN);
      expect(await ok(reply)).toEqual({
        descriptorSet: schema('dry', BRAND),
        findings: [
          {
            code: 'SCHEMA_CHANGE_BREAKING',
            field: 'descriptorSet',
            message: expect.stringMatching(/^FIELD_REMOVED: dry\.Campaign\.budget \(1\) was removed/),
            remedy: 'Create a new descriptor instead, then migrate 2 event groups to it.',
          },
        ],
      });
      expect(reply.headers.get('x-mex-findings')).toBe('1');
      expect(await stored(exchange)).toEqual(before);
    });

    it('of a descriptor that no active event group uses returns a remedy without a migration', async () => {
      const { name } = await ok(create(exchange, streamly, schema('unused', BUDGET)));
      await addEventGroups(exchange, streamly, name, 'DELETED');
      const { findings } = await ok(update(exchange, streamly, name, schema('unused'), DRY_RUN));
      expect(findings).toMatchObject([
        { remedy: 'Create a new descriptor instead; no event group refers to this one.' },
      ]);
    });

    it('with 1,000 breaking changes returns 100 findings, and the last one counts the rest', async () => {
      const fields = Array.from({ length: 1000 }, (_, i) => ({ ...BUDGET, name: `f${i}`, number: i + 1 }));
      const { name } = await ok(create(exchange, streamly, schema('thousand', ...fields)));
      const { findings } = await ok(update(exchange, streamly, name, schema('thousand'), DRY_RUN));
      expect(findings).toHaveLength(100);
      expect(findings[98].message).not.toContain('more');
      expect(findings[99].message).toMatch(/^FIELD_REMOVED: thousand\.Campaign\.f99 .* And 900 more\.$/);
    });
  });

  describe('a type that two descriptors define', () => {
    const findings = async (reply: Promise<Reply>) => (await ok(reply)).findings;

    it('is reported as a finding with the name of the other descriptor of the same provider', async () => {
      const first = await ok(create(exchange, streamly, schema('twice', BUDGET)));
      const reply = await create(exchange, streamly, schema('twice', BRAND));
      const second = await ok(reply);
      expect(reply.headers.get('x-mex-findings')).toBe('1');
      expect((await lineOf(exchange, reply)).findings).toEqual(['TYPE_ALREADY_REGISTERED']);
      expect(
        await findings(update(exchange, streamly, second.name, schema('twice', BRAND), DRY_RUN)),
      ).toEqual([
        {
          code: 'TYPE_ALREADY_REGISTERED',
          field: 'descriptorSet',
          message: `The type "twice.Campaign" is defined by ${first.name} too.`,
          remedy: expect.stringMatching(/\w/),
        },
      ]);
    });

    it('is reported for descriptors of two providers, without the name of the other provider or descriptor', async () => {
      const { name } = await ok(create(exchange, streamly, schema('shared', BUDGET)));
      const found = await findings(create(exchange, chirper, schema('shared', BUDGET), DRY_RUN));
      expect(found).toMatchObject([{ code: 'TYPE_ALREADY_REGISTERED', field: 'descriptorSet' }]);
      expect(found[0].message).toContain('"shared.Campaign"');
      const told = JSON.stringify(found);
      expect(told).not.toContain(name.split('/').at(-1));
      expect(told).not.toContain(streamly.name);
    });

    it('is reported for an update that adds it, until the other descriptor drops it', async () => {
      const { name } = await ok(create(exchange, streamly, schema('given', BUDGET)));
      const other = await ok(create(exchange, streamly, schema('taken', BUDGET)));
      const dryRun = () => findings(update(exchange, streamly, other.name, schema('given', BUDGET), DRY_RUN));
      const codes = async () => (await dryRun()).map((f: { code: string }) => f.code);
      expect(await codes()).toEqual(['TYPE_ALREADY_REGISTERED', 'SCHEMA_CHANGE_BREAKING']);
      await ok(update(exchange, streamly, name, schema('another', BUDGET)));
      expect(await codes()).toEqual(['SCHEMA_CHANGE_BREAKING']);
    });

    it('is not reported for the descriptor itself, for well-known files, or for nested messages', async () => {
      const file = (name: string, message: object) => ({
        name: `${name}.proto`,
        package: name,
        messageType: [message],
      });
      const wellKnown = [
        { ...file('date', { name: 'Date' }), name: 'google/type/date.proto', package: 'google.type' },
        { ...file('any', { name: 'Any' }), name: 'google/protobuf/any.proto', package: 'google.protobuf' },
      ];
      const nested = { name: 'Campaign', nestedType: [{ name: 'Ad' }] };
      const sets = ['first', 'second'].map((name) => ({ file: [...wellKnown, file(name, nested)] }));
      for (const descriptorSet of sets) {
        const reply = await create(exchange, streamly, descriptorSet);
        const { name } = await ok(reply);
        expect(reply.headers.has('x-mex-findings')).toBe(false);
        const again = await update(exchange, streamly, name, descriptorSet);
        expect(again.headers.has('x-mex-findings')).toBe(false);
      }
      const rows = await exchange.database.query(
        `SELECT type_name FROM descriptor_types WHERE type_name ~ '^(first|second|google)\\.' ORDER BY 1`,
      );
      expect(rows.map((row) => row.type_name)).toEqual(['first.Campaign', 'second.Campaign']);
    });

    it('does not make concurrent creates fail', async () => {
      const replies = await Promise.all(
        Array.from({ length: 8 }, () => create(exchange, streamly, schema('rush', BUDGET))),
      );
      expect(replies.map((reply) => reply.status)).toEqual(replies.map(() => 200));
    });
  });

  describe('a diff', () => {
    let name: string;
    const diff = (party: DevParty, body: unknown, of = name) => post(exchange, party, `${of}:diff`, body);
    const changed = { descriptorSet: schema('diffed', { ...BUDGET, name: 'total' }, BRAND) };
    beforeAll(async () => {
      ({ name } = await ok(create(exchange, streamly, schema('diffed', BUDGET))));
    });

    it('returns each change, and whether it breaks readers, to the owner and to a consumer', async () => {
      const before = await stored(exchange);
      for (const party of [streamly, acme]) {
        const reply = await diff(party, changed);
        expect(await ok(reply)).toEqual({
          compatible: false,
          changes: [
            {
              kind: 'FIELD_RENAMED',
              path: 'diffed.Campaign.budget',
              breaking: true,
              message: expect.stringMatching(/^diffed\.Campaign\.budget \(1\) is now called total\./),
            },
            {
              kind: 'FIELD_ADDED',
              path: 'diffed.Campaign.brand',
              breaking: false,
              message: 'diffed.Campaign.brand (2) was added.',
            },
          ],
        });
        expect(reply.headers.has('x-mex-findings')).toBe(false);
      }
      expect(await stored(exchange)).toEqual(before);
    });

    it('is compatible when nothing breaks, and empty when nothing changes', async () => {
      const added = await ok(diff(acme, { name, descriptorSet: schema('diffed', BUDGET, BRAND) }));
      expect(added).toMatchObject({ compatible: true, changes: [{ kind: 'FIELD_ADDED' }] });
      const { descriptorSet } = await get(exchange, acme, `${name}?descriptorSetEncoding=BASE64`);
      expect(await ok(diff(acme, { descriptorSet }))).toEqual({ compatible: true, changes: [] });
    });

    it('rejects an invalid descriptor set and a missing descriptor', async () => {
      expect(errorOf(await diff(streamly, {}))).toBe(
        '400 INVALID_ARGUMENT REQUIRED_FIELD_NOT_SET descriptorSet',
      );
      expect(errorOf(await diff(streamly, { descriptorSet: { file: [{}] } }))).toMatch(
        /^400 INVALID_ARGUMENT \w+ descriptorSet\.file\[0\]\.name/,
      );
      expect(errorOf(await diff(acme, changed, `${parentOf(streamly)}/absent`))).toBe(
        '404 NOT_FOUND EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND',
      );
    });

    it('is denied to another provider, whether the descriptor exists or not', async () => {
      const denied = '403 PERMISSION_DENIED PERMISSION_DENIED';
      expect(errorOf(await diff(chirper, changed))).toBe(denied);
      expect(errorOf(await diff(chirper, changed, `${parentOf(streamly)}/absent`))).toBe(denied);
    });
  });
});
