import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../../', import.meta.url)
/** The generator needs an older version of TypeScript, so it is installed in this folder. */
const GENERATOR_FOLDER = fileURLToPath(new URL('test/contract/clients/package.json', ROOT))
const HEAD = '// Written by `npm run openapi` from openapi.json. Do not edit it.\n\n'

interface Operation {
  responses: Record<string, { headers?: unknown }>
}

/** Returns the text of `src/api-types.ts`: the types of requests and responses, as `openapi.json` describes them. */
export async function generateTypes(): Promise<string> {
  const contract = JSON.parse(await readFile(new URL('openapi.json', ROOT), 'utf8')) as {
    paths: Record<string, Record<string, Operation>>
    components: Record<string, unknown>
    webhooks?: unknown
  }
  // The client reads errors and headers by its own rules, so their types are left out. They would triple the file.
  for (const operation of Object.values(contract.paths).flatMap((path) => Object.values(path))) dropErrors(operation)
  const { schemas } = contract.components
  const document = { ...contract, components: { schemas }, webhooks: undefined, security: undefined }
  const manifest = createRequire(GENERATOR_FOLDER).resolve('openapi-typescript/package.json')
  return HEAD + (await run(join(dirname(manifest), 'bin', 'cli.js'), JSON.stringify(document)))
}

function dropErrors(operation: Operation): void {
  for (const [status, response] of Object.entries(operation.responses)) {
    if (Number(status) >= 400) delete operation.responses[status]
    delete response.headers
  }
}

async function run(program: string, input: string): Promise<string> {
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(input)
  const [output, exitCode] = await Promise.all([
    text(child.stdout),
    new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve)),
  ])
  if (exitCode !== 0) throw new Error(`openapi-typescript exited with ${String(exitCode)}.`)
  return output
}
