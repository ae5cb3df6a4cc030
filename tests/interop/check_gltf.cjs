// Validates every GLB of a folder: no errors, no warnings.
// usage: NODE_PATH=…/node_modules node check_gltf.cjs FOLDER
const fs = require('fs');
const path = require('path');
const validator = require('gltf-validator');

async function main(folder) {
  const files = fs.readdirSync(folder).filter((name) => name.endsWith('.glb'));
  if (files.length === 0) throw new Error(`no GLB in ${folder}`);
  for (const name of files) {
    const bytes = new Uint8Array(fs.readFileSync(path.join(folder, name)));
    const { issues } = await validator.validateBytes(bytes);
    if (issues.numErrors + issues.numWarnings > 0) {
      console.log(`FAILED: ${name}`, JSON.stringify(issues.messages.slice(0, 5), null, 2));
      process.exit(1);
    }
  }
  console.log(`glTF: ${files.length} files valid`);
}

main(process.argv[2]).catch((error) => {
  console.error(error);
  process.exit(1);
});
