import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'

/** Makes the running Node report an old version, so that the tests need no old Node. */
const OLD_NODE =
  "data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.20.2'}})"
const PROGRAM = `
type Line = string
const line: Line = JSON.stringify([process.argv[1]?.endsWith('program.ts'), ...process.argv.slice(2)])
process.once('SIGTERM', () => process.exit(7))
process.emitWarning('quiet, please', 'ExperimentalWarning')
process.stdout.write(line + '\\n')
if (process.argv[2] === 'wait') setInterval(() => {}, 1000)
else process.exitCode = 3
`

const base = mkdtempSync(join(tmpdir(), 'bursar run '))
after(() => rmSync(base, { recursive: true }))

/** Creates a project with one program, in a folder with a space in its name. */
function createProject(name: string, { hasNode }: { hasNode: boolean }): string {
  const root = join(base, name)
  mkdirSync(join(root, 'scripts'), { recursive: true })
  mkdirSync(join(root, 'node_modules', '.bin'), { recursive: true })
  copyFileSync(new URL('run.mjs', import.meta.url), join(root, 'scripts', 'run.mjs'))
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(root, 'program.ts'), PROGRAM)
  if (hasNode) symlinkSync(process.execPath, join(root, 'node_modules', '.bin', 'node'))
  return root
}

function start(root: string, { isOld, args }: { isOld: boolean; args: string[] }) {
  const flags = isOld ? ['--import', OLD_NODE] : []
  const child = spawn(process.execPath, [...flags, 'scripts/run.mjs', ...args], { cwd: root })
  const told = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (told.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (told.err += text))
  return { child, told, closed: once(child, 'close') as Promise<[number | null]> }
}

describe('run.mjs', () => {
  for (const isOld of [false, true]) {
    const name = isOld ? 'an old Node, beside an installed one' : 'a Node that is new enough'
    const root = createProject(isOld ? 'old' : 'new', { hasNode: isOld })

    test(`${name}: passes on the arguments and the exit code, without warnings`, async () => {
      const { told, closed } = start(root, { isOld, args: ['program.ts', 'a', 'b c'] })
      const [code] = await closed
      assert.deepEqual({ code, ...told }, { code: 3, out: '[true,"a","b c"]\n', err: '' })
    })

    test(`${name}: a signal reaches the program, and its exit code is passed on`, async () => {
      const { child, closed } = start(root, { isOld, args: ['program.ts', 'wait'] })
      await once(child.stdout, 'data')
      child.kill('SIGTERM')
      assert.deepEqual((await closed)[0], 7)
    })
  }

  test('with only an old Node, it prints a message of one sentence', async () => {
    const { told, closed } = start(createProject('none', { hasNode: false }), { isOld: true, args: ['program.ts'] })
    assert.equal((await closed)[0], 1)
    assert.match(told.err, /^Bursar needs Node\.js 22\.18 or newer, but this is 20\.20\.2 [^\n]+\.\n$/)
    assert.equal(told.out, '')
  })
})
