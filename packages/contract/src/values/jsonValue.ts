/** The values that `parseJson` returns. */

/** A number with a fraction or an exponent, kept as text so that `1.0` is not read as the integer 1. */
export class JsonDecimal {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A parsed JSON value. Safe integers are `number`, and larger integers are `bigint`. Objects have no prototype. */
export type JsonValue = null | boolean | string | number | bigint | JsonDecimal | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}
