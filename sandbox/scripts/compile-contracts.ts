/**
 * Compiles each contract in `contracts/` to a JSON file in the same folder. The JSON files are committed, so starting
 * the sandbox requires no compiler.
 */
import { writeFileSync } from 'node:fs'
import { CONTRACTS, compileContract, formatArtifact } from './compile-contract.ts'

for (const { name, file } of CONTRACTS) {
  const artifact = compileContract(name)
  writeFileSync(new URL(`../${file}`, import.meta.url), formatArtifact(artifact))
  process.stdout.write(`${file}: ${(artifact.bytecode.length - 2) / 2} bytes, ${artifact.compiler}\n`)
}
