import type { SchemaChange } from '@measurement-exchange/contract';
import { describe, expect, test } from 'vitest';
import { packageFindings, schemaChangeFindings, typeFindings } from './descriptorFindings.ts';

const names = (count: number) => Array.from({ length: count }, (_, i) => `M${i}`);

describe('findings about a descriptor set', () => {
  test('name each message without a package', () => {
    expect(packageFindings([])).toEqual([]);
    expect(packageFindings(['M', 'N'])).toMatchObject([
      { code: 'METADATA_WITHOUT_PACKAGE', field: 'descriptorSet', message: 'The message M has no package.' },
      { code: 'METADATA_WITHOUT_PACKAGE', field: 'descriptorSet', message: 'The message N has no package.' },
    ]);
  });

  test('are limited to 100, and the last one counts the rest', () => {
    expect(packageFindings(names(100)).map((f) => f.message)).toEqual(
      names(100).map((name) => `The message ${name} has no package.`),
    );
    const many = packageFindings(names(250)).map((f) => f.message);
    expect(many).toHaveLength(100);
    expect(many[98]).toBe('The message M98 has no package.');
    expect(many[99]).toBe('The message M99 has no package. And 150 more.');
  });

  test("name the provider's own descriptor that already has the type, but not one of another provider", () => {
    const own = 'dataProviders/tv/eventGroupMetadataDescriptors/d';
    const { own: ours, others } = typeFindings([
      { type: 'a.M', own },
      { type: 'a.N', own: undefined },
    ]);
    const code = 'TYPE_ALREADY_REGISTERED';
    expect(ours).toMatchObject([
      { code, field: 'descriptorSet', message: `The type "a.M" is defined by ${own} too.` },
    ]);
    expect(others).toMatchObject([
      { code, message: 'The type "a.N" is defined by a descriptor of another provider too.' },
    ]);
  });

  test('count the event groups that a breaking change would require to migrate', () => {
    const change = { kind: 'FIELD_REMOVED', path: 'a.M.f', breaking: true, message: 'a.M.f was removed.' };
    const findingFor = (eventGroups: number) =>
      schemaChangeFindings({ changes: [change as SchemaChange], breaking: 1, omitted: 0 }, eventGroups)[0]!;
    expect(findingFor(0)).toEqual({
      code: 'SCHEMA_CHANGE_BREAKING',
      field: 'descriptorSet',
      message: 'FIELD_REMOVED: a.M.f was removed.',
      remedy: 'Create a new descriptor instead; no event group refers to this one.',
    });
    expect(findingFor(1).remedy).toBe('Create a new descriptor instead, then migrate 1 event group to it.');
    expect(findingFor(2).remedy).toBe('Create a new descriptor instead, then migrate 2 event groups to it.');
  });
});
