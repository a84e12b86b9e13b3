import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readPages } from '../../docs/site/src/pages.ts'
import { startThrowAwaySandbox, type ThrowAwaySandbox } from '../../sandbox/src/throw-away-sandbox.ts'
import { findFreePort } from '../support/free-port.ts'
import { call } from '../support/http-client.ts'
import { prepareSandbox } from '../support/sandbox/prepared-sandbox.ts'
import { runProgram } from '../support/sandbox/run-program.ts'
import { readBlocks } from './read-blocks.ts'
import { runCommands } from './run-commands.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
/** The programs that the commands of the documentation use, besides Node. `npm ci` cannot install them. */
const TOOLS = ['bash', 'curl', 'jq']
const MISSING = TOOLS.filter((tool) => spawnSync(tool, ['--version']).status !== 0)
const skip = MISSING.length > 0 && `the commands of the documentation use ${MISSING.join(', ')}: not installed here`
/** The languages whose blocks are commands, or files that commands use. Blocks of `json` and others are only shown. */
const RUN = new Set(['bash', 'sh', 'js', 'ts'])
/** The number of blocks that no test can run. Raise it only for a command that needs what a test does not have. */
const NOT_RUN = 25
/** The page whose examples have invented addresses and keys. `docs/site/pages/cli.md` has examples that run. */
const EXAMPLES_ONLY = 'reference/command-line'

const README = { path: 'README.md', markdown: readFileSync(join(ROOT, 'README.md'), 'utf8') }
const pages = [README, ...readPages()].map(({ path, markdown }) => ({ path, blocks: readBlocks(markdown) }))

describe('the commands of the documentation', () => {
  let sandbox: ThrowAwaySandbox
  let environment: string
  before(async () => {
    sandbox = await startThrowAwaySandbox({ prepared: await prepareSandbox(), sellerStarts: 'with_sandbox' })
    const env = { BURSAR_DATA_DIR: sandbox.dataDir }
    const { exitCode, output } = await runProgram('sandbox/src/print-environment.ts', { env })
    assert.equal(exitCode, 0, output)
    environment = output
  })
  after(() => sandbox.remove())

  for (const { path, blocks } of pages) {
    const runnable = blocks.filter(({ language, notRun }) => RUN.has(language) && notRun === null)
    if (runnable.length === 0) continue
    test(`those of ${path} work, one after the other`, { skip }, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'bursar-docs-'))
      try {
        // Each page gets a key of its own, so that the rate limit of one page does not stop another one.
        const key = await issueKey(sandbox.facts.control_url)
        const variables = { WEBHOOK_PORT: String(await findFreePort()) }
        await runCommands(runnable, {
          folder,
          environment: environment.replace(sandbox.facts.workspace.keys.test, key),
          variables,
        })
      } finally {
        await rm(folder, { recursive: true })
      }
    })
  }

  test('are nearly all run, and each of the others says why not', () => {
    const left = pages
      .filter(({ path }) => path !== EXAMPLES_ONLY)
      .flatMap(({ blocks }) => blocks.filter(({ notRun }) => notRun !== null))
    assert.ok(left.every(({ notRun }) => (notRun ?? '').length > 5))
    assert.equal(left.length, NOT_RUN)
  })

  test('pieces of TypeScript have the types that they say', async () => {
    const pieces = pages.flatMap(({ blocks }) => blocks.filter(({ language, notRun }) => language === 'ts' && !notRun))
    const folder = await mkdtemp(join(tmpdir(), 'bursar-docs-'))
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    await Promise.all(pieces.map(({ code }, index) => writeFile(join(folder, `piece-${index}.mts`), code)))
    const options = { extends: join(ROOT, 'tsconfig.base.json'), compilerOptions: { types: ['node'] } }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ ...options, include: ['*.mts'] }))
    const { status, stdout } = spawnSync(process.execPath, [TSC, '-p', folder], { encoding: 'utf8' })
    await rm(folder, { recursive: true })
    assert.equal(status, 0, stdout)
    assert.ok(pieces.length > 4)
  })

  test('blocks of JSON can be parsed', () => {
    const json = pages.flatMap(({ blocks }) => blocks.filter(({ language }) => language === 'json'))
    for (const { code } of json) assert.doesNotThrow(() => JSON.parse(code), code)
    assert.ok(json.length > 5)
  })

  test('say what to start if no sandbox runs', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'bursar-docs-'))
    const { exitCode, output } = await runProgram('sandbox/src/print-environment.ts', {
      env: { BURSAR_DATA_DIR: empty },
    })
    await rm(empty, { recursive: true })
    assert.equal(exitCode, 1)
    assert.match(
      output,
      /^No sandbox runs with its data in .+\. Start one with npm start\. If .+ BURSAR_DATA_DIR .+\n$/,
    )
  })
})

async function issueKey(controlUrl: string): Promise<string> {
  const { body } = await call(controlUrl, 'POST', '/workspaces/demo/keys', { body: { mode: 'test' } })
  return (body['key'] as { secret: string }).secret
}
