/** One change of a schema: the schema before and after, and the changes that the exchange must report. */
export interface SchemaPair {
  title: string;
  /** Maps the name of each file to its text. The names of all files and packages begin with `acme`. */
  before: Record<string, string>;
  after: Record<string, string>;
  /** The expected changes as `KIND path`, in any order. */
  changes: string[];
  breaking: boolean;
}

type Source = string | Record<string, string>;

/**
 * Maps the name of each file of a schema to its text. A schema given as one text has a single file,
 * `acme/campaign.proto`.
 */
function files(source: Source): Record<string, string> {
  return typeof source === 'string' ? { 'acme/campaign.proto': source } : source;
}

export function breaking(title: string, before: Source, after: Source, ...changes: string[]): SchemaPair {
  return { title, before: files(before), after: files(after), changes, breaking: true };
}

export function compatible(title: string, before: Source, after: Source, ...changes: string[]): SchemaPair {
  return { title, before: files(before), after: files(after), changes, breaking: false };
}

export const proto2 = (body: string) => `syntax = "proto2";\npackage acme;\n${body}`;
export const proto3 = (body: string) => `syntax = "proto3";\npackage acme;\n${body}`;
export const edition = (body: string) => `edition = "2023";\npackage acme;\n${body}`;

/** Returns a file that defines acme.Campaign with these members. */
export const campaign = (members: string) => proto3(`message Campaign { ${members} }`);
export const campaign2 = (members: string) => proto2(`message Campaign { ${members} }`);
export const campaign2023 = (members: string) => edition(`message Campaign { ${members} }`);
