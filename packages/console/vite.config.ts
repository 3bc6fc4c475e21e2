/**
 * Builds the console into `dist/web`: file names contain hashes, nothing is inline, and a list contains the SHA-256 of
 * every file.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { ENCODINGS, LIST, sumOf } from './src/files.ts';

const COMPRESS = { br: promisify(brotliCompress), gzip: promisify(gzip) };
/** Files with fewer bytes are not compressed. */
const MIN_COMPRESSED = 512;

export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  plugins: [react(), compressAndList()],
  build: {
    outDir: 'dist/web',
    target: 'es2024',
    // An inlined file would be a data: URL, which the Content-Security-Policy forbids.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});

/**
 * Writes a Brotli copy and a gzip copy of each file with at least MIN_COMPRESSED bytes. Then writes the list with the
 * SHA-256 of every file, including the copies.
 */
function compressAndList(): Plugin {
  return {
    name: 'compress-and-list',
    apply: 'build',
    async writeBundle({ dir }, bundle) {
      const sums: [name: string, sum: string][] = [];
      const add = (name: string, bytes: Uint8Array) => sums.push([name, sumOf(bytes)]);
      const each = Object.keys(bundle).map(async (name) => {
        const bytes = await readFile(join(dir!, name));
        add(name, bytes);
        if (bytes.length < MIN_COMPRESSED) return;
        for (const [encoding, extension] of Object.entries(ENCODINGS)) {
          const copy = await COMPRESS[encoding as keyof typeof COMPRESS](bytes);
          await writeFile(join(dir!, `${name}${extension}`), copy);
          add(`${name}${extension}`, copy);
        }
      });
      await Promise.all(each);
      await writeFile(join(dir!, LIST), `${JSON.stringify(Object.fromEntries(sums.sort()), null, 1)}\n`);
    },
  };
}
