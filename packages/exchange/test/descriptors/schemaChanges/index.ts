import { ENUM_CHANGES } from './enums.ts';
import { FIELD_CHANGES } from './fields.ts';
import { FILE_CHANGES } from './files.ts';
import type { SchemaPair } from './pair.ts';
import { TYPE_CHANGES } from './types.ts';

export const SCHEMA_CHANGES: SchemaPair[] = [
  ...FIELD_CHANGES,
  ...TYPE_CHANGES,
  ...ENUM_CHANGES,
  ...FILE_CHANGES,
];
