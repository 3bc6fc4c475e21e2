import { breaking, campaign, campaign2, campaign2023, compatible, type SchemaPair } from './pair.ts';

const BUDGET = 'acme.Campaign.budget';

export const FIELD_CHANGES: SchemaPair[] = [
  compatible('no change', campaign('int32 budget = 1;'), campaign('int32 budget = 1;')),
  compatible(
    'fields in another order',
    campaign('int32 budget = 1; string brand = 2;'),
    campaign('string brand = 2; int32 budget = 1;'),
  ),
  compatible(
    'a field is added',
    campaign('int32 budget = 1;'),
    campaign('int32 budget = 1; string brand = 2;'),
    'FIELD_ADDED acme.Campaign.brand',
  ),
  breaking(
    'a required field is added',
    campaign2('optional int32 budget = 1;'),
    campaign2('optional int32 budget = 1; required string brand = 2;'),
    'REQUIRED_FIELD_ADDED acme.Campaign.brand',
  ),
  breaking(
    'a field with field_presence LEGACY_REQUIRED is added',
    campaign2023('int32 budget = 1;'),
    campaign2023('int32 budget = 1; string brand = 2 [features.field_presence = LEGACY_REQUIRED];'),
    'REQUIRED_FIELD_ADDED acme.Campaign.brand',
  ),
  breaking(
    'a field is removed',
    campaign('int32 budget = 1; string brand = 2;'),
    campaign('string brand = 2;'),
    `FIELD_REMOVED ${BUDGET}`,
  ),
  breaking(
    'a field is removed, its number and name reserved',
    campaign('int32 budget = 1; string brand = 2;'),
    campaign('reserved 1; reserved "budget"; string brand = 2;'),
    `FIELD_REMOVED ${BUDGET}`,
  ),
  breaking(
    'a required field is removed',
    campaign2('required int32 budget = 1; optional string brand = 2;'),
    campaign2('optional string brand = 2;'),
    `FIELD_REMOVED ${BUDGET}`,
  ),
  breaking(
    'a field gets another number',
    campaign('int32 budget = 1;'),
    campaign('int32 budget = 2;'),
    `FIELD_RENUMBERED ${BUDGET}`,
  ),
  breaking(
    'two fields swap their numbers',
    campaign('int32 budget = 1; int32 spent = 2;'),
    campaign('int32 budget = 2; int32 spent = 1;'),
    `FIELD_RENUMBERED ${BUDGET}`,
    'FIELD_RENUMBERED acme.Campaign.spent',
  ),
  breaking(
    'a field is removed and another gets its number',
    campaign('int32 budget = 1; int32 spent = 2;'),
    campaign('int32 spent = 1;'),
    `FIELD_REMOVED ${BUDGET}`,
    'FIELD_RENUMBERED acme.Campaign.spent',
  ),
  breaking(
    'a field is renamed',
    campaign('int32 budget = 1;'),
    campaign('int32 total_budget = 1;'),
    `FIELD_RENAMED ${BUDGET}`,
  ),
  breaking(
    'a field is renamed and keeps its JSON name',
    campaign('int32 budget = 1;'),
    campaign('int32 total_budget = 1 [json_name = "budget"];'),
    `FIELD_RENAMED ${BUDGET}`,
  ),
  breaking(
    'a field gets another JSON name',
    campaign('int32 budget = 1;'),
    campaign('int32 budget = 1 [json_name = "totalBudget"];'),
    `JSON_NAME_CHANGED ${BUDGET}`,
  ),
  compatible(
    'a field declares its default JSON name',
    campaign('int32 total_budget = 1;'),
    campaign('int32 total_budget = 1 [json_name = "totalBudget"];'),
  ),
  breaking(
    'a field number is reused for a field with another name and type',
    campaign('int32 budget = 1;'),
    campaign('string brand = 1;'),
    `FIELD_RENAMED ${BUDGET}`,
    `FIELD_TYPE_CHANGED ${BUDGET}`,
  ),
  compatible(
    'a field is deprecated',
    campaign('int32 budget = 1;'),
    campaign('int32 budget = 1 [deprecated = true];'),
  ),

  // Cardinality and presence.
  breaking(
    'a singular field becomes repeated',
    campaign('int32 budget = 1;'),
    campaign('repeated int32 budget = 1;'),
    `FIELD_CARDINALITY_CHANGED ${BUDGET}`,
  ),
  breaking(
    'a repeated field becomes singular',
    campaign('repeated string brand = 1;'),
    campaign('string brand = 1;'),
    'FIELD_CARDINALITY_CHANGED acme.Campaign.brand',
  ),
  breaking(
    'a required field becomes optional',
    campaign2('required int32 budget = 1;'),
    campaign2('optional int32 budget = 1;'),
    `FIELD_CARDINALITY_CHANGED ${BUDGET}`,
  ),
  breaking(
    'an optional field becomes required',
    campaign2('optional int32 budget = 1;'),
    campaign2('required int32 budget = 1;'),
    `FIELD_CARDINALITY_CHANGED ${BUDGET}`,
  ),
  compatible(
    'a field gets explicit presence',
    campaign('int32 budget = 1;'),
    campaign('optional int32 budget = 1;'),
    `FIELD_PRESENCE_CHANGED ${BUDGET}`,
  ),
  compatible(
    'a field loses explicit presence',
    campaign2023('int32 budget = 1;'),
    campaign2023('int32 budget = 1 [features.field_presence = IMPLICIT];'),
    `FIELD_PRESENCE_CHANGED ${BUDGET}`,
  ),
  compatible(
    'a repeated field is packed',
    campaign2('repeated int32 budget = 1;'),
    campaign2('repeated int32 budget = 1 [packed = true];'),
    `FIELD_PACKING_CHANGED ${BUDGET}`,
  ),

  // Oneofs.
  breaking(
    'a field moves into a oneof',
    campaign('int32 budget = 1; oneof price { int32 cpm = 2; int32 cpc = 3; }'),
    campaign('oneof price { int32 budget = 1; int32 cpm = 2; int32 cpc = 3; }'),
    `FIELD_PRESENCE_CHANGED ${BUDGET}`,
    `FIELD_MOVED_INTO_ONEOF ${BUDGET}`,
  ),
  breaking(
    'a field moves out of a oneof',
    campaign('oneof price { int32 budget = 1; int32 cpm = 2; }'),
    campaign('optional int32 budget = 1; oneof price { int32 cpm = 2; }'),
    `FIELD_MOVED_OUT_OF_ONEOF ${BUDGET}`,
  ),
  breaking(
    'a field moves from one oneof to another',
    campaign('oneof price { int32 budget = 1; int32 cpm = 2; } oneof pay { int32 cpc = 3; }'),
    campaign('oneof price { int32 cpm = 2; } oneof pay { int32 budget = 1; int32 cpc = 3; }'),
    `FIELD_MOVED_OUT_OF_ONEOF ${BUDGET}`,
    `FIELD_MOVED_INTO_ONEOF ${BUDGET}`,
  ),
  breaking(
    'a oneof is renamed',
    campaign('oneof price { int32 budget = 1; int32 cpm = 2; }'),
    campaign('oneof cost { int32 budget = 1; int32 cpm = 2; }'),
    'ONEOF_RENAMED acme.Campaign.price',
  ),
  breaking(
    'a oneof is split in two',
    campaign('oneof price { int32 budget = 1; int32 cpm = 2; }'),
    campaign('oneof total { int32 budget = 1; } oneof each { int32 cpm = 2; }'),
    `FIELD_MOVED_OUT_OF_ONEOF ${BUDGET}`,
    `FIELD_MOVED_INTO_ONEOF ${BUDGET}`,
    'FIELD_MOVED_OUT_OF_ONEOF acme.Campaign.cpm',
    'FIELD_MOVED_INTO_ONEOF acme.Campaign.cpm',
  ),
  compatible(
    'a field is added to a oneof',
    campaign('oneof price { int32 budget = 1; }'),
    campaign('oneof price { int32 budget = 1; int32 cpm = 2; }'),
    'FIELD_ADDED acme.Campaign.cpm',
  ),

  // Reserved numbers and names.
  compatible(
    'numbers and a name are reserved',
    campaign('int32 budget = 1;'),
    campaign('int32 budget = 1; reserved 2 to 4; reserved "spent";'),
  ),
  breaking(
    'a number and a name are no longer reserved',
    campaign('int32 budget = 1; reserved 2, 5 to 9; reserved "spent";'),
    campaign('int32 budget = 1; reserved 5 to 8;'),
    'RESERVED_REMOVED acme.Campaign',
    'RESERVED_REMOVED acme.Campaign',
    'RESERVED_REMOVED acme.Campaign',
  ),
  compatible(
    'a reserved range is split and extended',
    campaign('int32 budget = 1; reserved 2 to 9;'),
    campaign('int32 budget = 1; reserved 2 to 4, 5, 6 to 20;'),
  ),
  breaking(
    'a reserved number is used again',
    campaign('int32 budget = 1; reserved 2;'),
    campaign('int32 budget = 1; int32 spent = 2;'),
    'RESERVED_REMOVED acme.Campaign',
    'FIELD_ADDED acme.Campaign.spent',
  ),
];
