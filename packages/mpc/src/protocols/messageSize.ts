/** The limits on the size of a message between duchies, in bytes before encryption. */
export interface MessageSize {
  least: number;
  most: number;
}

export interface Sender {
  /** The number of data providers that upload to this duchy. */
  uploads: number;
  /** The duchy's index in the ring of duchies. */
  place: number;
}
