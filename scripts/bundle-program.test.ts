import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { BUILT_NAME } from '../sandbox/src/processes/programs.ts'

const PROGRAM = fileURLToPath(new URL('bundle-program.ts', import.meta.url))
/** Uses every form of an import. The expressions show that each name leads to the right export. */
const SOURCE = `
  import 'node:url'
  import path, { join as joinPaths, basename } from 'node:path'
  import * as http from 'node:http'

  console.log(JSON.stringify({
    paths: [path.join('a', 'b'), joinPaths('c', 'd'), basename('e/f')],
    methods: http.METHODS.includes('GET'),
    hasFetch: process.moduleLoadList.some((name) => name.includes('deps/undici')),
  }))
`

describe('a bundled program', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'bursar-program-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  for (const flags of [[], ['--load-built-ins']]) {
    test(`has all exports of the modules of Node (${flags.join() || 'without flags'})`, () => {
      const entry = join(folder, 'entry.ts')
      const output = join(folder, `built${flags.join()}`)
      writeFileSync(entry, SOURCE)
      runNode([PROGRAM, entry, output, ...flags])
      const built = join(output, BUILT_NAME)
      assert.deepEqual(JSON.parse(runNode([built])), {
        paths: ['a/b', 'c/d', 'f'],
        methods: true,
        // Only with the flag, `node:http` does not load the client of `fetch`. The command line must run without the
        // flag, because versions of Node that it supports do not have this function.
        hasFetch: flags.length === 0,
      })
      assert.equal(readFileSync(built, 'utf8').includes('getBuiltinModule'), flags.length > 0)
    })
  }
})

function runNode(args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return stdout
}
