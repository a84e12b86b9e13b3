/** Compiles `contracts/Usdc.sol` to `contracts/usdc.json`, which is committed: a start needs no compiler. */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { compileUsdc, formatArtifact } from './compile-usdc.ts'

const file = fileURLToPath(new URL('../contracts/usdc.json', import.meta.url))
const artifact = compileUsdc()
writeFileSync(file, formatArtifact(artifact))
process.stdout.write(`contracts/usdc.json: ${(artifact.bytecode.length - 2) / 2} bytes, ${artifact.compiler}\n`)
