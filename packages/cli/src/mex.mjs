#!/usr/bin/env node
// Starts mex. Even an outdated Node must be able to parse this file, so that it prints a message instead of a syntax
// error. The file therefore has neither static imports nor a top-level await.
const { node } = process.versions;
if (Number.parseInt(node, 10) < 24) {
  console.error(`mex needs Node 24 or newer, and ${process.execPath} is Node ${node}.
Install Node 24 (https://nodejs.org). In a clone of the repository npm start and npm run mex -- <command> bring it.`);
  process.exit(1);
}
// A clone of the repository contains mex.ts, but an installed package contains mex.js.
import('node:fs').then(
  ({ existsSync }) => import(existsSync(new URL('mex.ts', import.meta.url)) ? './mex.ts' : './mex.js'),
);
