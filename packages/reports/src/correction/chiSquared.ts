/**
 * Returns the probability that a χ² variable with the given degrees of freedom exceeds `chiSquared`. This is the
 * regularized incomplete gamma function Q.
 */
export function chiSquaredTail(chiSquared: number, degrees: number): number {
  if (degrees <= 0 || chiSquared <= 0) return 1;
  const [a, x] = [degrees / 2, chiSquared / 2];
  const scale = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x < a + 1) {
    let [term, sum] = [1 / a, 1 / a];
    for (let n = 1; n < 1000 && term > sum * 1e-15; n++) {
      term *= x / (a + n);
      sum += term;
    }
    return Math.max(0, 1 - scale * sum);
  }
  // Evaluate the continued fraction for Q with Lentz's method.
  let b = x + 1 - a;
  let c = 1e300;
  let d = 1 / b;
  let fraction = d;
  for (let n = 1; n < 1000; n++) {
    const step = -n * (n - a);
    b += 2;
    d = 1 / (step * d + b);
    c = b + step / c;
    fraction *= c * d;
    if (Math.abs(c * d - 1) < 1e-15) break;
  }
  return scale * fraction;
}

/**
 * Returns ln Γ(value) by Stirling's series. First shifts the argument to at least 10, where the error of the series is
 * below 1e-12.
 */
function logGamma(value: number): number {
  let x = value;
  let shift = 0;
  for (; x < 10; x++) shift += Math.log(x);
  const inverse = 1 / (x * x);
  const series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / x;
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series - shift;
}
