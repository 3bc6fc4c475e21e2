/** The values that JSON text is read into. */

/** A number with a fraction or an exponent. Kept as text so that `1.0` is never taken for the integer 1. */
export class JsonDecimal {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Integers are `number` while that is exact, `bigint` beyond. Objects have no prototype. */
export type JsonValue = null | boolean | string | number | bigint | JsonDecimal | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}
