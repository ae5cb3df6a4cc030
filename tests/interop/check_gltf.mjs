// Checks GLB files with the Khronos validator: no errors, no warnings.
//
//   node check_gltf.mjs FILE.glb...
//
// The npm package `gltf-validator` must be found from the current folder.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';

const require = createRequire(join(process.cwd(), 'here.js'));
const validator = require('gltf-validator');

const files = process.argv.slice(2);
if (files.length === 0) {
  console.error('usage: check_gltf.mjs FILE.glb...');
  process.exit(2);
}
let failed = false;
for (const file of files) {
  const report = await validator.validateBytes(new Uint8Array(readFileSync(file)), {
    uri: file,
    // Any limit would end the check early, with what comes after it unseen.
    maxIssues: 0,
    // What a bake leaves behind of its input (skins, old vertices) is kept on purpose.
    ignoredIssues: ['UNUSED_OBJECT'],
  });
  const { numErrors, numWarnings, messages } = report.issues;
  const whole = report.info !== undefined; // absent when the validator gave up
  const bad = numErrors > 0 || numWarnings > 0 || !whole;
  failed ||= bad;
  const info = report.info ?? {};
  console.log(
    `${bad ? 'WRONG' : 'ok'}  ${basename(file)}: ${numErrors} errors, ${numWarnings} warnings, ` +
      `${info.totalVertexCount ?? 0} vertices, ${info.animationCount ?? 0} animations`,
  );
  if (!whole) console.log('   the validator did not finish');
  for (const message of messages.filter((m) => m.severity < 2).slice(0, 10)) {
    console.log(`   ${message.code} at ${message.pointer}: ${message.message}`);
  }
}
process.exit(failed ? 1 : 0);
