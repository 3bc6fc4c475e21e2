import { breaking, campaign, compatible, edition, proto2, proto3, type SchemaPair } from './pair.ts';

const MONEY = 'message Money { int64 micros = 1; }';
const CAMPAIGN = 'message Campaign { Money budget = 1; }';
const TIER = 'enum Tier { TIER_FREE = 0; }';
const SERVICE = 'service Campaigns { rpc Get(Campaign) returns (Campaign); }';
const note = (type: string, number = 100) =>
  proto2(
    `message Campaign { extensions 100 to 199; } extend Campaign { optional ${type} note = ${number}; }`,
  );

export const FILE_CHANGES: SchemaPair[] = [
  compatible(
    'a message is added',
    campaign('int32 budget = 1;'),
    proto3(`message Campaign { int32 budget = 1; } ${MONEY}`),
    'MESSAGE_ADDED acme.Money',
  ),
  breaking(
    'a message is removed',
    proto3(`message Campaign { int32 budget = 1; } ${MONEY}`),
    campaign('int32 budget = 1;'),
    'MESSAGE_REMOVED acme.Money',
  ),
  breaking(
    'a message is removed with its nested message and enum',
    campaign('message Ad { message Size { int32 w = 1; } enum Tier { TIER_FREE = 0; } Size size = 1; }'),
    campaign(''),
    'MESSAGE_REMOVED acme.Campaign.Ad',
  ),
  breaking(
    'a message is renamed',
    campaign('int32 budget = 1;'),
    proto3('message Flight { int32 budget = 1; }'),
    'MESSAGE_REMOVED acme.Campaign',
    'MESSAGE_ADDED acme.Flight',
  ),
  breaking(
    'a nested message moves to the top level',
    campaign('message Money { int64 micros = 1; } Money budget = 1;'),
    proto3(`${MONEY} ${CAMPAIGN}`),
    'MESSAGE_REMOVED acme.Campaign.Money',
    'MESSAGE_ADDED acme.Money',
    'FIELD_TYPE_CHANGED acme.Campaign.budget',
  ),
  compatible(
    'a message and an enum move to another file',
    proto3(`${MONEY} ${TIER} ${CAMPAIGN}`),
    {
      'acme/campaign.proto': proto3(`import "acme/money.proto"; ${CAMPAIGN}`),
      'acme/money.proto': proto3(`${MONEY} ${TIER}`),
    },
    'MESSAGE_MOVED acme.Money',
    'ENUM_MOVED acme.Tier',
  ),
  compatible(
    'a file is renamed',
    proto3(CAMPAIGN + MONEY),
    { 'acme/metadata.proto': proto3(CAMPAIGN + MONEY) },
    'MESSAGE_MOVED acme.Campaign',
    'MESSAGE_MOVED acme.Money',
  ),
  breaking(
    'a package is renamed',
    'syntax = "proto3"; package acme; message Campaign { int32 budget = 1; }',
    'syntax = "proto3"; package acme.v2; message Campaign { int32 budget = 1; }',
    'MESSAGE_REMOVED acme.Campaign',
    'MESSAGE_ADDED acme.v2.Campaign',
  ),
  compatible(
    'a comment and a Java option are added',
    campaign('int32 budget = 1;'),
    proto3('option java_package = "com.acme"; /* all of it */ message Campaign { int32 budget = 1; }'),
  ),

  // Syntax and editions.
  compatible(
    'proto3 to an edition with equivalent features',
    campaign('int32 budget = 1; repeated int32 days = 2; string brand = 3; optional bool paid = 4;'),
    edition(`option features.field_presence = IMPLICIT;
      message Campaign { int32 budget = 1; repeated int32 days = 2; string brand = 3;
        bool paid = 4 [features.field_presence = EXPLICIT]; }`),
    'SYNTAX_CHANGED acme/campaign.proto',
  ),
  breaking(
    'proto2 to proto3',
    proto2(`enum Tier { TIER_FREE = 0; }
      message Campaign { optional string brand = 1; optional int32 budget = 2; repeated int32 days = 3; }`),
    proto3(`enum Tier { TIER_FREE = 0; }
      message Campaign { string brand = 1; int32 budget = 2; repeated int32 days = 3; }`),
    'SYNTAX_CHANGED acme/campaign.proto',
    'ENUM_TYPE_CHANGED acme.Tier',
    'FIELD_PRESENCE_CHANGED acme.Campaign.brand',
    'FIELD_UTF8_VALIDATION_CHANGED acme.Campaign.brand',
    'FIELD_PRESENCE_CHANGED acme.Campaign.budget',
    'FIELD_PACKING_CHANGED acme.Campaign.days',
  ),
  compatible(
    'a proto2 group to an edition with equivalent features',
    proto2('message Campaign { optional group Ad = 1 { optional int32 size = 1; } }'),
    edition(`message Campaign { message Ad { int32 size = 1; }
      Ad ad = 1 [features.message_encoding = DELIMITED]; }`),
    'SYNTAX_CHANGED acme/campaign.proto',
  ),

  // Extensions.
  compatible(
    'an extension is added',
    proto2('message Campaign { extensions 100 to 199; }'),
    note('string'),
    'EXTENSION_ADDED acme.note',
  ),
  breaking(
    'an extension is removed',
    note('string'),
    proto2('message Campaign { extensions 100 to 199; }'),
    'EXTENSION_REMOVED acme.note',
  ),
  breaking('the type of an extension changes', note('string'), note('int32'), 'FIELD_TYPE_CHANGED acme.note'),
  breaking(
    'the number of an extension changes',
    note('string'),
    note('string', 101),
    'FIELD_RENUMBERED acme.note',
  ),
  breaking(
    'a range of extension numbers is reduced',
    proto2('message Campaign { extensions 100 to 199; }'),
    proto2('message Campaign { extensions 100 to 149; }'),
    'EXTENSION_RANGE_REMOVED acme.Campaign',
  ),
  compatible(
    'a custom option is removed',
    proto3(`import "google/protobuf/descriptor.proto";
      extend google.protobuf.FieldOptions { string label = 50000; } message Campaign { int32 budget = 1; }`),
    campaign('int32 budget = 1;'),
  ),

  // Services.
  compatible(
    'a service is added',
    campaign('int32 budget = 1;'),
    proto3(`message Campaign { int32 budget = 1; } ${SERVICE}`),
    'SERVICE_ADDED acme.Campaigns',
  ),
  compatible(
    'a method of a service changes',
    proto3(`message Campaign { int32 budget = 1; } ${SERVICE}`),
    proto3(`message Campaign { int32 budget = 1; }
      service Campaigns { rpc Get(stream Campaign) returns (Campaign); }`),
    'SERVICE_CHANGED acme.Campaigns',
  ),
  compatible(
    'a service is removed',
    proto3(`message Campaign { int32 budget = 1; } ${SERVICE}`),
    campaign('int32 budget = 1;'),
    'SERVICE_REMOVED acme.Campaigns',
  ),
];
