import { breaking, compatible, edition, proto2, proto3, type SchemaPair } from './pair.ts';

/** A schema in which acme.Campaign uses the enum acme.Tier with these values. */
const tier = (values: string) => proto3(`enum Tier { ${values} } message Campaign { Tier tier = 1; }`);
const FREE_AND_PAID = 'TIER_FREE = 0; TIER_PAID = 1;';

export const ENUM_CHANGES: SchemaPair[] = [
  compatible(
    'a value is added',
    tier(FREE_AND_PAID),
    tier(`${FREE_AND_PAID} TIER_TRIAL = 2;`),
    'ENUM_VALUE_ADDED acme.Tier.TIER_TRIAL',
  ),
  breaking(
    'a value is removed',
    tier(FREE_AND_PAID),
    tier('TIER_FREE = 0;'),
    'ENUM_VALUE_REMOVED acme.Tier.TIER_PAID',
  ),
  breaking(
    'a value is removed, its number and name reserved',
    tier(FREE_AND_PAID),
    tier('TIER_FREE = 0; reserved 1; reserved "TIER_PAID";'),
    'ENUM_VALUE_REMOVED acme.Tier.TIER_PAID',
  ),
  breaking(
    'a value gets another number',
    tier(FREE_AND_PAID),
    tier('TIER_FREE = 0; TIER_PAID = 2;'),
    'ENUM_VALUE_RENUMBERED acme.Tier.TIER_PAID',
  ),
  breaking(
    'a value is renamed',
    tier(FREE_AND_PAID),
    tier('TIER_FREE = 0; TIER_PREMIUM = 1;'),
    'ENUM_VALUE_RENAMED acme.Tier.TIER_PAID',
  ),
  breaking(
    'a value is removed and another gets its number',
    tier(`${FREE_AND_PAID} TIER_TRIAL = 2;`),
    tier('TIER_FREE = 0; TIER_TRIAL = 1;'),
    'ENUM_VALUE_REMOVED acme.Tier.TIER_PAID',
    'ENUM_VALUE_RENUMBERED acme.Tier.TIER_TRIAL',
  ),
  compatible(
    'a value gets an alias',
    tier(FREE_AND_PAID),
    tier(`option allow_alias = true; ${FREE_AND_PAID} TIER_PREMIUM = 1;`),
    'ENUM_VALUE_ADDED acme.Tier.TIER_PREMIUM',
  ),
  breaking(
    'a value gets an alias that becomes its JSON name',
    tier(FREE_AND_PAID),
    tier('option allow_alias = true; TIER_FREE = 0; TIER_PREMIUM = 1; TIER_PAID = 1;'),
    'ENUM_VALUE_RENAMED acme.Tier.TIER_PAID',
  ),
  breaking(
    'a value loses its alias',
    tier(`option allow_alias = true; ${FREE_AND_PAID} TIER_PREMIUM = 1;`),
    tier(FREE_AND_PAID),
    'ENUM_VALUE_REMOVED acme.Tier.TIER_PREMIUM',
  ),
  compatible(
    'values in another order',
    tier(`${FREE_AND_PAID} TIER_TRIAL = 2;`),
    tier('TIER_FREE = 0; TIER_TRIAL = 2; TIER_PAID = 1;'),
  ),
  breaking(
    'an enum is removed',
    proto3('enum Tier { TIER_FREE = 0; } message Campaign { int32 budget = 1; }'),
    proto3('message Campaign { int32 budget = 1; }'),
    'ENUM_REMOVED acme.Tier',
  ),
  compatible(
    'an enum is added',
    proto3('message Campaign { int32 budget = 1; }'),
    proto3('message Campaign { enum Tier { TIER_FREE = 0; } int32 budget = 1; Tier tier = 2; }'),
    'ENUM_ADDED acme.Campaign.Tier',
    'FIELD_ADDED acme.Campaign.tier',
  ),
  breaking(
    'an open enum is closed',
    edition('enum Tier { TIER_FREE = 0; } message Campaign { Tier tier = 1; }'),
    edition(`enum Tier { option features.enum_type = CLOSED; TIER_FREE = 0; }
      message Campaign { Tier tier = 1; }`),
    'ENUM_TYPE_CHANGED acme.Tier',
  ),
  breaking(
    'a closed enum is opened',
    edition(`option features.enum_type = CLOSED;
      enum Tier { TIER_FREE = 0; } message Campaign { Tier tier = 1; }`),
    edition('enum Tier { TIER_FREE = 0; } message Campaign { Tier tier = 1; }'),
    'ENUM_TYPE_CHANGED acme.Tier',
  ),
  breaking(
    'numbers and a name of an enum are no longer reserved',
    proto2('enum Tier { FREE = 0; reserved 3 to 5, 7; reserved "OLD"; } message Campaign {}'),
    proto2('enum Tier { FREE = 0; reserved 3 to 4; } message Campaign {}'),
    'RESERVED_REMOVED acme.Tier',
    'RESERVED_REMOVED acme.Tier',
    'RESERVED_REMOVED acme.Tier',
  ),
];
