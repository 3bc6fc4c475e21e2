/**
 * Tests metadata schemas under strict checks: breaking changes are rejected, and so are types that the same provider
 * has already registered.
 */

import { type DevParty, useExchange } from '@measurement-exchange/testkit/exchange';
import {
  addEventGroups,
  BRAND,
  BUDGET,
  create,
  DRY_RUN,
  schema,
  update,
} from '@measurement-exchange/testkit/schemas';
import { castOf, errorOf, metadata, ok, stored } from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';

describe('under strict checks', () => {
  let streamly: DevParty;
  let chirper: DevParty;
  const exchange = useExchange({ checks: 'strict' });
  beforeAll(() => {
    ({ streamly, chirper } = castOf(exchange));
  });

  const EXISTS = '409 ALREADY_EXISTS EVENT_GROUP_METADATA_DESCRIPTOR_ALREADY_EXISTS_WITH_TYPE descriptorSet';

  it('an update that breaks readers is rejected with a violation for each breaking change', async () => {
    const { name } = await ok(create(exchange, streamly, schema('refused', BUDGET, BRAND)));
    await addEventGroups(exchange, streamly, name, 'ACTIVE');
    const before = await stored(exchange);
    const reply = await update(exchange, streamly, name, schema('refused', { ...BUDGET, number: 3 }));
    expect(errorOf(reply)).toBe('400 FAILED_PRECONDITION SCHEMA_CHANGE_BREAKING descriptorSet descriptorSet');
    expect(metadata(reply)).toEqual({ codes: 'SCHEMA_CHANGE_BREAKING' });
    const { fieldViolations } = reply.json.error.details[1];
    for (const [i, change] of [/FIELD_RENUMBERED: refused\.Campaign\.budget/, /FIELD_REMOVED/].entries()) {
      expect(fieldViolations[i].description).toMatch(change);
      expect(fieldViolations[i].description).toContain('migrate 1 event group to it');
    }
    expect(await stored(exchange)).toEqual(before);
  });

  it('an update that only adds fields is accepted', async () => {
    const { name } = await ok(create(exchange, streamly, schema('extended', BUDGET)));
    const extended = await ok(update(exchange, streamly, name, schema('extended', BUDGET, BRAND)));
    expect(extended.descriptorSet.file[0].messageType[0].field).toHaveLength(2);
  });

  it('validateOnly returns the findings for which an update or a create would be rejected', async () => {
    const { name } = await ok(create(exchange, streamly, schema('dry', BUDGET)));
    const { findings } = await ok(update(exchange, streamly, name, schema('dry'), DRY_RUN));
    expect(findings).toMatchObject([{ code: 'SCHEMA_CHANGE_BREAKING' }]);
    const again = await ok(create(exchange, streamly, schema('dry', BUDGET), DRY_RUN));
    expect(again.findings).toMatchObject([{ code: 'TYPE_ALREADY_REGISTERED' }]);
  });

  it('a registered type and a message without a package are both CHECK_FAILED, not ALREADY_EXISTS', async () => {
    const set = schema('mixed', BUDGET);
    await ok(create(exchange, streamly, set));
    const bare = { name: 'bare.proto', messageType: [{ name: 'Bare' }] };
    const reply = await create(exchange, streamly, { file: [...set.file, bare] });
    expect(errorOf(reply)).toBe('400 INVALID_ARGUMENT CHECK_FAILED descriptorSet descriptorSet');
    expect(metadata(reply)).toEqual({ codes: 'METADATA_WITHOUT_PACKAGE,TYPE_ALREADY_REGISTERED' });
  });

  it('a type that the same provider has registered is rejected, on create and on update', async () => {
    const { name } = await ok(create(exchange, streamly, schema('mine', BUDGET)));
    const reply = await create(exchange, streamly, schema('mine', BRAND));
    expect(errorOf(reply)).toBe(EXISTS);
    expect(reply.json.error.message).toContain(name);
    const other = await ok(create(exchange, streamly, schema('other', BUDGET)));
    const both = { file: [...schema('other', BUDGET).file, ...schema('mine', BUDGET).file] };
    expect(errorOf(await update(exchange, streamly, other.name, both))).toBe(EXISTS);
    await ok(update(exchange, streamly, name, schema('mine', BUDGET, BRAND)));
  });

  it('a type that another provider has registered is only a finding', async () => {
    await ok(create(exchange, streamly, schema('industry', BUDGET)));
    const reply = await create(exchange, chirper, schema('industry', BUDGET));
    await ok(reply);
    expect(reply.headers.get('x-mex-findings')).toBe('1');
  });

  it('exactly one of 12 concurrent creates of the same type succeeds', async () => {
    const replies = await Promise.all(
      Array.from({ length: 12 }, () => create(exchange, streamly, schema('race', BUDGET))),
    );
    const lost = replies.filter((reply) => reply.status !== 200);
    expect(lost.map(errorOf)).toEqual(Array.from({ length: 11 }, () => EXISTS));
  });

  it('exactly one of a concurrent create and update with the same type succeeds', async () => {
    for (let i = 0; i < 5; i++) {
      const [own, wanted] = [schema(`own${i}`, BUDGET), schema(`wanted${i}`, BUDGET)];
      const { name } = await ok(create(exchange, streamly, own));
      const replies = await Promise.all([
        create(exchange, streamly, wanted),
        update(exchange, streamly, name, { file: [...own.file, ...wanted.file] }),
      ]);
      expect(replies.map((reply) => reply.status).sort()).toEqual([200, 409]);
    }
  });

  it('concurrent retries of one create return the same descriptor', async () => {
    for (let i = 0; i < 5; i++) {
      const retry = () => create(exchange, streamly, schema(`retried${i}`, BUDGET), `?requestId=retried${i}`);
      const replies = await Promise.all(Array.from({ length: 8 }, retry));
      const names = await Promise.all(replies.map(async (reply) => (await ok(reply)).name));
      expect(new Set(names).size).toBe(1);
    }
  });
});
