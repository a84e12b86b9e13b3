import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readConfig, refuseArguments } from './config.ts'
import { FACTS_FILE_NAME, type SandboxFacts } from './state/sandbox-facts.ts'

/** Where npm links the project's commands, such as `bursar`. */
const PROGRAMS = fileURLToPath(new URL('../../node_modules/.bin', import.meta.url))

// `npm run -s sandbox:env` prints the running sandbox's addresses and the test values of its demo workspace, as
// commands for a shell: `eval "$(npm run -s sandbox:env)"`.

function main(): number {
  try {
    refuseArguments()
    const { dataDir } = readConfig()
    process.stdout.write(formatEnvironment(readFacts(dataDir)))
    return 0
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  }
}

/** The sandbox writes the file when it is ready, and deletes it when it stops. */
function readFacts(dataDir: string): SandboxFacts {
  try {
    return JSON.parse(readFileSync(join(dataDir, FACTS_FILE_NAME), 'utf8')) as SandboxFacts
  } catch (error) {
    throw new Error(
      `No sandbox runs with its data in ${dataDir}. Start one with npm start. If it runs with another data folder, set BURSAR_DATA_DIR to this folder here too.`,
      { cause: error },
    )
  }
}

function formatEnvironment({ workspace, ...facts }: SandboxFacts): string {
  const variables = {
    BURSAR_URL: facts.base_url,
    BURSAR_AUTH_URL: facts.auth_url,
    BURSAR_CONTROL_URL: facts.control_url,
    BURSAR_SELLER_URL: facts.seller_url,
    BURSAR_API_KEY: workspace.keys.test,
    BURSAR_AGENT: workspace.agent_id,
    BURSAR_WALLET: workspace.wallets.test,
  }
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${quote(value)}\n`)
  // The last line makes the command `bursar` work in every folder.
  return [...lines, `export PATH="$PATH":${quote(PROGRAMS)}\n`].join('')
}

function quote(value: string): string {
  return `'${value.replaceAll("'", String.raw`'\''`)}'`
}

process.exitCode = main()
