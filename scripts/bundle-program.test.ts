import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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

  test('has all exports of the modules of Node, and does not load the client of fetch with node:http', () => {
    const entry = join(folder, 'entry.ts')
    writeFileSync(entry, SOURCE)
    assert.deepEqual(JSON.parse(buildAndRun(entry, join(folder, 'built'))), {
      paths: ['a/b', 'c/d', 'f'],
      methods: true,
      hasFetch: false,
    })
  })
})

/** Builds a program, runs it, and returns its output. */
function buildAndRun(entry: string, output: string): string {
  runNode([PROGRAM, entry, output])
  return runNode([join(output, BUILT_NAME)])
}

function runNode(args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return stdout
}
