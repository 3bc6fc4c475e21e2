import {
  breaking,
  campaign,
  campaign2,
  campaign2023,
  compatible,
  edition,
  proto2,
  proto3,
  type SchemaPair,
} from './pair.ts';

const BUDGET = 'acme.Campaign.budget';
const changed = `FIELD_TYPE_CHANGED ${BUDGET}`;
const wireCompatible = `FIELD_TYPE_CHANGED_WIRE_COMPATIBLE ${BUDGET}`;

const ENUMS = 'enum Tier { TIER_FREE = 0; TIER_PAID = 1; } enum Level { LEVEL_LOW = 0; LEVEL_HIGH = 1; }';
const MONEY = 'message Money { int64 micros = 1; } message Price { int64 micros = 1; }';
const withEnums = (members: string) => proto3(`${ENUMS} message Campaign { ${members} }`);
const withMoney = (members: string) => proto3(`${MONEY} message Campaign { ${members} }`);

export const TYPE_CHANGES: SchemaPair[] = [
  breaking('int32 to string', campaign('int32 budget = 1;'), campaign('string budget = 1;'), changed),
  breaking('int32 to sint32', campaign('int32 budget = 1;'), campaign('sint32 budget = 1;'), changed),
  breaking('int64 to double', campaign('int64 budget = 1;'), campaign('double budget = 1;'), changed),
  breaking('float to double', campaign('float budget = 1;'), campaign('double budget = 1;'), changed),
  breaking(
    'int32 to int64, which JSON writes as text',
    campaign('int32 budget = 1;'),
    campaign('int64 budget = 1;'),
    wireCompatible,
  ),
  breaking(
    'int32 to uint32, which has no negative numbers',
    campaign('int32 budget = 1;'),
    campaign('uint32 budget = 1;'),
    wireCompatible,
  ),
  breaking(
    'fixed64 to sfixed64, which has negative numbers',
    campaign('fixed64 budget = 1;'),
    campaign('sfixed64 budget = 1;'),
    wireCompatible,
  ),
  breaking(
    'bool to int32, which JSON writes as a number',
    campaign('bool budget = 1;'),
    campaign('int32 budget = 1;'),
    wireCompatible,
  ),
  breaking(
    'string to bytes, which JSON writes in base64',
    campaign('string budget = 1;'),
    campaign('bytes budget = 1;'),
    wireCompatible,
  ),
  breaking(
    'an enum to int32, which JSON writes as a number',
    withEnums('Tier budget = 1;'),
    withEnums('int32 budget = 1;'),
    wireCompatible,
  ),
  breaking('int32 to an enum', withEnums('int32 budget = 1;'), withEnums('Tier budget = 1;'), wireCompatible),
  breaking(
    'an enum to another enum',
    withEnums('Tier budget = 1;'),
    withEnums('Level budget = 1;'),
    wireCompatible,
  ),
  breaking(
    'a message to another message with the same fields',
    withMoney('Money budget = 1;'),
    withMoney('Price budget = 1;'),
    changed,
  ),
  breaking('a message to a scalar', withMoney('Money budget = 1;'), withMoney('int64 budget = 1;'), changed),
  breaking('a message to bytes', withMoney('Money budget = 1;'), withMoney('bytes budget = 1;'), changed),
  breaking(
    'a message to a well-known type',
    campaign('message Day { int64 seconds = 1; } Day budget = 1;'),
    proto3(`import "google/protobuf/timestamp.proto";
      message Campaign { message Day { int64 seconds = 1; } google.protobuf.Timestamp budget = 1; }`),
    changed,
  ),

  // Maps.
  breaking(
    'the key type of a map changes',
    campaign('map<int32, string> labels = 1;'),
    campaign('map<string, string> labels = 1;'),
    'MAP_KEY_CHANGED acme.Campaign.labels',
  ),
  breaking(
    'the value type of a map changes',
    campaign('map<string, string> labels = 1;'),
    campaign('map<string, int64> labels = 1;'),
    'MAP_VALUE_CHANGED acme.Campaign.labels',
  ),
  breaking(
    'the message type of the values of a map changes',
    withMoney('map<string, Money> labels = 1;'),
    withMoney('map<string, Price> labels = 1;'),
    'MAP_VALUE_CHANGED acme.Campaign.labels',
  ),
  breaking(
    'a map to repeated entries',
    campaign('map<string, string> labels = 1;'),
    campaign('message Label { string key = 1; string value = 2; } repeated Label labels = 1;'),
    'FIELD_CARDINALITY_CHANGED acme.Campaign.labels',
    'MESSAGE_ADDED acme.Campaign.Label',
  ),
  compatible(
    'a map is added',
    campaign('int32 budget = 1;'),
    campaign('int32 budget = 1; map<string, string> labels = 2;'),
    'FIELD_ADDED acme.Campaign.labels',
  ),

  // Defaults.
  breaking(
    'a default value changes',
    campaign2('optional int32 budget = 1 [default = 5];'),
    campaign2('optional int32 budget = 1 [default = 6];'),
    `FIELD_DEFAULT_CHANGED ${BUDGET}`,
  ),
  breaking(
    'a default value is removed',
    campaign2('optional string brand = 1 [default = "none"];'),
    campaign2('optional string brand = 1;'),
    'FIELD_DEFAULT_CHANGED acme.Campaign.brand',
  ),
  compatible(
    'implicit default values are declared explicitly',
    campaign2('optional int32 budget = 1; optional bool paid = 2; optional double rate = 3 [default = 1];'),
    campaign2(
      'optional int32 budget = 1 [default = 0]; optional bool paid = 2 [default = false];' +
        'optional double rate = 3 [default = 1.0];',
    ),
  ),
  breaking(
    'the first value of an enum changes, which is the default of its fields',
    proto2('enum Tier { FREE = 1; PAID = 2; } message Campaign { optional Tier tier = 1; }'),
    proto2('enum Tier { PAID = 2; FREE = 1; } message Campaign { optional Tier tier = 1; }'),
    'FIELD_DEFAULT_CHANGED acme.Campaign.tier',
  ),

  // Encodings.
  breaking(
    'a message field changes from length-prefixed to delimited encoding',
    edition(`${MONEY} message Campaign { Money budget = 1; }`),
    edition(`${MONEY} message Campaign { Money budget = 1 [features.message_encoding = DELIMITED]; }`),
    `FIELD_ENCODING_CHANGED ${BUDGET}`,
  ),
  breaking(
    'a string field starts to require valid UTF-8',
    campaign2023('string brand = 1 [features.utf8_validation = NONE];'),
    campaign2023('string brand = 1;'),
    'FIELD_UTF8_VALIDATION_CHANGED acme.Campaign.brand',
  ),
  compatible(
    'a repeated field is no longer packed',
    campaign2023('repeated int32 budget = 1;'),
    campaign2023('repeated int32 budget = 1 [features.repeated_field_encoding = EXPANDED];'),
    `FIELD_PACKING_CHANGED ${BUDGET}`,
  ),
];
