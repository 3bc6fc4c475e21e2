#!/usr/bin/env node
// Starts mex. This file is plain JavaScript that any version of Node can parse, so an outdated Node prints a message
// instead of a syntax error.
import { existsSync } from 'node:fs';

const { node } = process.versions;
if (Number.parseInt(node, 10) < 24) {
  console.error(`mex needs Node 24 or newer, and ${process.execPath} is Node ${node}.
In a clone of the repository use npm: npm start, npm run mex -- <command>. It installs Node 24 and finds it.`);
  process.exit(1);
}
// A clone contains TypeScript, but an installed package contains JavaScript.
await import(existsSync(new URL('mex.ts', import.meta.url)) ? './mex.ts' : './mex.js');
