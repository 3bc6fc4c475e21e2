#!/usr/bin/env node
// Starts mex. This file is plain JavaScript that every Node reads, so an older Node prints a message and not a syntax error.
import { existsSync } from 'node:fs';

const { node } = process.versions;
if (Number.parseInt(node, 10) < 24) {
  console.error(`mex needs Node 24 or newer, and ${process.execPath} is Node ${node}.
In a clone of the repository use npm: npm start, npm run mex -- <command>. It installs Node 24 and finds it.`);
  process.exit(1);
}
// A clone has TypeScript, an installed package has JavaScript.
await import(existsSync(new URL('mex.ts', import.meta.url)) ? './mex.ts' : './mex.js');
