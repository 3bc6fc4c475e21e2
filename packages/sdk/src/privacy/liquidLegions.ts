/**
 * How many people a Liquid Legions sketch stands for, and how far that may be from the truth. Register i of m is hit with
 * probability p_i = C e^(−a i / m), where a is the decay rate and C makes them add up to 1; so y people leave it empty with
 * probability (1 − p_i)^y. Everything is a sum over registers, added up as it is: no approximation by an integral.
 */

export interface LiquidLegionsSize {
  /** The lowest register is e^decayRate times as likely as the highest. */
  decayRate: number;
  /** How many registers there are. */
  maxSize: number;
}

/** How many registers have somebody, expected for so many people. */
export function expectedRegisters(size: LiquidLegionsSize, people: number): number {
  let sum = 0;
  forEachRegister(size, (p) => {
    sum -= Math.expm1(people * Math.log1p(-p));
  });
  return sum;
}

/**
 * The number of people for which so many registers are expected, rounded down. A sketch with all registers hit stands for any
 * number of people, and is a RangeError.
 */
export function estimatePeople(size: LiquidLegionsSize, registers: number): number {
  if (!(registers < size.maxSize)) {
    throw new RangeError('every register of the sketch is hit: raise maxSize or decayRate');
  }
  if (registers <= 0) return 0;
  let high = 1;
  while (expectedRegisters(size, high) <= registers) high *= 2;
  let low = high / 2;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (expectedRegisters(size, middle) <= registers) low = middle;
    else high = middle;
  }
  return low;
}

export interface LiquidLegionsReachParams extends LiquidLegionsSize {
  reach: number;
  /** Width of the VID sampling interval. */
  width: number;
  /** Of the duchies' noise together, on the count of registers. */
  noiseVariance: number;
}

/** Variance of a reach: of the registers that people happen to hit, of the noise, and of the sample. */
export function liquidLegionsReachVariance(params: LiquidLegionsReachParams): number {
  const { reach, width, noiseVariance } = params;
  const people = Math.max(0, reach) * width;
  let variance = noiseVariance;
  let hit = 0;
  forEachRegister(params, (p) => {
    const empty = Math.exp(people * Math.log1p(-p));
    variance += empty - empty ** 2 + people * (p * empty) ** 2;
    hit += p * empty;
  });
  variance -= people * hit ** 2;
  return variance / (width * hit) ** 2 + Math.max(0, reach) * (1 / width - 1);
}

/** Calls with the probability of each register. */
function forEachRegister({ decayRate, maxSize }: LiquidLegionsSize, use: (p: number) => void): void {
  const step = decayRate / maxSize;
  const first = Math.expm1(-step) / Math.expm1(-decayRate);
  for (let i = 0; i < maxSize; i++) use(first * Math.exp(-step * i));
}
