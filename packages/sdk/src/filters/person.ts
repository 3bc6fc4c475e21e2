/** The attributes of people, which filters write as `person.<attribute>`. */

const PERSON = 'person.';

/** Returns the name by which filters use an attribute of the population. */
export const personAttribute = (attribute: string) => PERSON + attribute;

/** Returns whether a name stands for an attribute of the population, and not for a column of the events. */
export const isPersonAttribute = (name: string) => name.startsWith(PERSON);
