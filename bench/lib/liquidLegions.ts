/**
 * Measures operations on P-256 in one thread, and compares them with OpenSSL (called through Node) and with the
 * JavaScript library @noble/curves.
 */
import { createECDH } from 'node:crypto';
import { Keystream, newSeed } from '@measurement-exchange/mpc/shares';
import {
  areZero,
  CIPHERTEXT_BYTES,
  Ciphertexts,
  Curve,
  drawScalars,
  ElGamalPublicKey,
  mapToCurve,
  newKeyPair,
  POINT_BYTES,
  SCALAR_BYTES,
} from '@measurement-exchange/mpc/sketches';
import { p256 } from '@noble/curves/nist.js';

export interface CurveFigure {
  operation: string;
  /** Operations per second of CPU time. A library that lacks the operation has no value. */
  ours: number;
  openssl?: number;
  noble?: number;
}

/**
 * The number of points for the slower libraries. It is low, so that measuring these libraries takes only a few seconds.
 */
const FEW = 300;

/**
 * Runs one round of the measurements. The first round in a process is slower, because V8 compiles the code while it
 * runs.
 */
export function curveFigures(count: number): CurveFigure[] {
  const random = new Keystream(newSeed());
  const curve = new Curve();
  const pair = newKeyPair(random);
  const key = new ElGamalPublicKey(curve, pair.publicKey);
  const batch = new Ciphertexts(curve);
  const [points, results] = curve.spare;
  const scalars = drawScalars(random, count);
  const scalar = drawScalars(random, 1);
  const bytes = new Uint8Array(count * POINT_BYTES);
  const ciphertexts = new Uint8Array(count * CIPHERTEXT_BYTES);
  void curve.generator;

  const fixed = rate(count, () => curve.multiplyFixed(points, curve.generator, scalars));
  curve.store(points, bytes, count);
  const texts = Array.from({ length: count }, (_, i) => String(i));
  const figures: CurveFigure[] = [
    {
      operation: 'multiply the generator',
      ours: fixed,
      ...ofOthers(fixedByOpenssl, (i) => p256.Point.BASE.multiply(i)),
    },
  ];
  const add = (operation: string, work: () => void, others: Omit<CurveFigure, 'operation' | 'ours'> = {}) =>
    figures.push({ operation, ours: rate(count, work), ...others });

  add('map a text to the curve', () => mapToCurve(curve, texts));
  add('decompress a point', () => curve.load(points, bytes, count), {
    noble: rate(FEW, (i) => p256.Point.fromBytes(at(bytes, i))),
  });
  add(
    'multiply a point, one scalar for all',
    () => curve.multiply(results, points, scalar),
    multiplyByOthers(),
  );
  curve.load(points, bytes, count);
  add('multiply a point, a scalar each', () => curve.multiplyEach(results, points, scalars), {
    noble: rate(FEW, (i) => p256.Point.fromBytes(at(bytes, i)).multiplyUnsafe(big(scalars, i))),
  });
  add('encrypt', () => batch.encrypt(key, bytes, scalars));
  batch.store(ciphertexts);
  add('re-randomize', () => batch.reRandomize(key, scalars));
  add('decrypt a layer', () => batch.decrypt(pair.secretKey));
  add('blind', () => {
    batch.load(ciphertexts, count);
    batch.blind(pair.secretKey, scalar);
  });
  add('blind, a scalar each', () => {
    batch.load(ciphertexts, count);
    batch.blindEach(pair.secretKey, scalars);
  });
  add('test for zero', () => areZero(curve, pair.secretKey, ciphertexts, count));
  return figures;

  function multiplyByOthers() {
    const ecdh = createECDH('prime256v1');
    ecdh.setPrivateKey(scalar);
    const other = big(scalar, 0);
    return {
      // computeSecret returns only the x coordinate. A whole point would take two calls.
      openssl: rate(FEW, (i) => ecdh.computeSecret(at(bytes, i))),
      noble: rate(FEW, (i) => p256.Point.fromBytes(at(bytes, i)).multiply(other)),
    };
  }

  function ofOthers(openssl: (scalar: Uint8Array) => void, noble: (scalar: bigint) => void) {
    return {
      openssl: rate(FEW, (i) => openssl(scalars.subarray(i * SCALAR_BYTES, (i + 1) * SCALAR_BYTES))),
      noble: rate(FEW, (i) => noble(big(scalars, i))),
    };
  }
}

function fixedByOpenssl(scalar: Uint8Array): void {
  createECDH('prime256v1').setPrivateKey(scalar);
}

/**
 * Returns the number of items that `work` handles per second of CPU time. `work` either handles all `count` items in
 * one call, or takes an index and handles one item.
 */
function rate(count: number, work: (i: number) => void): number {
  const calls = work.length === 0 ? 1 : count;
  const started = process.cpuUsage();
  for (let i = 0; i < calls; i++) work(i);
  const { user, system } = process.cpuUsage(started);
  return (count * 1e6) / (user + system);
}

function at(points: Uint8Array, i: number): Uint8Array {
  return points.subarray(i * POINT_BYTES, (i + 1) * POINT_BYTES);
}

function big(scalars: Uint8Array, i: number): bigint {
  return BigInt(
    `0x${Buffer.from(scalars.subarray(i * SCALAR_BYTES, (i + 1) * SCALAR_BYTES)).toString('hex')}`,
  );
}
