/** Names of attributes, as filters (CEL expressions) use them: `age_group`, or a path such as `ad.format`. */

export const MAX_ATTRIBUTE_NAME = 128;
const PART = '[A-Za-z_][A-Za-z0-9_]*';
export const ATTRIBUTE_NAME_PATTERN = `^${PART}(?:\\.${PART})*$`;
const SHAPE = new RegExp(ATTRIBUTE_NAME_PATTERN);

/** CEL does not accept these words as identifiers. */
const RESERVED = new Set(
  (
    'as break const continue else false for function if import in let loop namespace null package return true ' +
    'var void while'
  ).split(' '),
);

export const ATTRIBUTE_NAME_RULE =
  `at most ${MAX_ATTRIBUTE_NAME} characters: letters, digits and _, with dots between the parts of a path; no part ` +
  'begins with a digit or is a reserved word of CEL';

/** Returns whether a filter can use an attribute with this name. */
export function isAttributeName(name: string): boolean {
  if (name.length > MAX_ATTRIBUTE_NAME || !SHAPE.test(name)) return false;
  return name.split('.').every((part) => !RESERVED.has(part));
}
