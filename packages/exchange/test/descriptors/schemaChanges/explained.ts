/**
 * The schema changes that the exchange and `buf breaking` (buf's rule category `CSR`) are known to judge differently.
 * Maps the title of each change to the reason for the difference. The test fails if the two verdicts on a listed change
 * agree.
 */
export const EXPLAINED: Record<string, string> = {
  'a field with field_presence LEGACY_REQUIRED is added':
    'buf looks for the label that proto2 has; messages written before are refused either way',
  'a string field starts to require valid UTF-8':
    'buf has the rule in FILE and PACKAGE only; readers refuse text that they took before',
  'a value gets an alias that becomes its JSON name':
    'buf compares the names of a number as a set; JSON has the first of them',
  'an open enum is closed':
    'buf has the rule in FILE and PACKAGE only; readers drop numbers that they kept before',
  'a closed enum is opened': 'as above, for those who still read with the version before',
  'a message and an enum move to another file':
    'buf asks that a type stays in its file, for generated code; metadata names types, never files',
  'a file is renamed': 'as above',
  'proto3 to an edition with equivalent features':
    'buf asks for the same syntax; we ask what the syntax changes',
  'a proto2 group to an edition with equivalent features': 'as above',
  'an extension is removed':
    'buf has the rule in FILE and PACKAGE only; what the extension held is lost to readers',
  'the number of an extension changes': 'buf takes it for another extension, and see above',
  'a method of a service changes': 'buf guards callers of services; no metadata message carries one',
};
