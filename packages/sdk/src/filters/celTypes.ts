/** Compares and describes CEL types. */
import { CelScalar, type CelType, objectType } from '@bufbuild/cel';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';

const { BOOL, DOUBLE, DYN, INT, UINT } = CelScalar;
export const TIMESTAMP = objectType(TimestampSchema);

export const sameType = (a: CelType, b: CelType) => a.kind === b.kind && a.name === b.name;
export const isDyn = (type: CelType): boolean => type.kind === 'scalar' && type.name === 'dyn';
export const isBool = (type: CelType) => isDyn(type) || sameType(type, BOOL);
export const isNumber = (type: CelType) => [INT, UINT, DOUBLE].some((number) => sameType(type, number));
export const fits = (argument: CelType, parameter: CelType) =>
  isDyn(argument) || isDyn(parameter) || sameType(argument, parameter);
export const common = (types: CelType[]): CelType =>
  types.length > 0 && types.every((type) => sameType(type, types[0]!)) ? types[0]! : DYN;
export const describe = (type: CelType) => (sameType(type, TIMESTAMP) ? 'timestamp' : type.name);
/** Converts CEL's internal names to operators: `_==_` to `==`, `-_` to `-`, and `@in` to `in`. */
export const spelled = (name: string) => (/^[_@]|_$/.test(name) ? name.replace(/[_@]/g, '') : name);

export function mixed(name: string, a: CelType, b: CelType): string {
  const numbers = isNumber(a) && isNumber(b) && !sameType(a, b);
  const advice = numbers
    ? '; nothing is converted silently: write 5.0 for a double, 5u for a uint, or double(…)'
    : '';
  return `${spelled(name)} does not go with ${describe(a)} and ${describe(b)}${advice}`;
}
