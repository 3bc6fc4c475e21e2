/**
 * The schema changes that the exchange and `buf breaking` (buf's rule category `CSR`) are known to judge differently.
 * Maps the title of each change to the reason for the difference. The test fails if the two verdicts on a listed change
 * agree.
 */
export const EXPLAINED: Record<string, string> = {
  'a field is added that an edition requires':
    'buf looks for the label that proto2 has; messages written before are refused either way',
  'text that must be UTF-8':
    'buf has the rule in FILE and PACKAGE only; readers refuse text that they took before',
  'a value gets a second name that JSON now writes':
    'buf compares the names of a number as a set; JSON has the first of them',
  'an open enum is closed':
    'buf has the rule in FILE and PACKAGE only; readers drop numbers that they kept before',
  'a closed enum is opened': 'as above, for those who still read with the version before',
  'a message and an enum move to a file of their own':
    'buf asks that a type stays in its file, for generated code; metadata names types, never files',
  'a file is renamed': 'as above',
  'proto3 to the edition that says the same': 'buf asks for the same syntax; we ask what the syntax changes',
  'a group to the edition that says the same': 'as above',
  'an extension is removed':
    'buf has the rule in FILE and PACKAGE only; what the extension held is lost to readers',
  'the number of an extension': 'buf takes it for another extension, and see above',
  'a method of a service': 'buf guards callers of services; no metadata message carries one',
};
