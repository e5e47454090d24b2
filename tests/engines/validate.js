// SPDX-License-Identifier: GPL-3.0-or-later
// node validate.js FILE...: what Khronos's validator says of glTF files, as JSON: a list of {file, errors, warnings, messages}.
// The package gltf-validator is looked for where NODE_PATH says.
const fs = require("fs");
const path = require("path");
const validator = require("gltf-validator");

async function look(file) {
  const folder = path.dirname(file);
  const beside = (uri) => Promise.resolve(new Uint8Array(fs.readFileSync(path.join(folder, decodeURIComponent(uri)))));
  const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), {
    uri: path.basename(file),
    externalResourceFunction: beside,
    maxIssues: 1000,
  });
  const { numErrors, numWarnings, messages } = report.issues;
  return { file, errors: numErrors, warnings: numWarnings, messages };
}

(async () => {
  const found = [];
  for (const file of process.argv.slice(2)) {
    found.push(await look(file).catch((error) => ({ file, errors: 1, warnings: 0, messages: [{ message: String(error) }] })));
  }
  console.log(JSON.stringify(found));
})();
