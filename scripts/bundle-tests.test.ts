import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createPlaceMapper } from './map-places.ts'

const PROGRAM = fileURLToPath(new URL('bundle-tests.ts', import.meta.url))
const SOURCES = {
  'shared.ts': `
    export const place: string = import.meta.url
    export const text = 'import.meta.url'
    export const opened: string[] = []
  `,
  'first.ts': "import { opened } from './shared.ts'\nopened.push('first')\n",
  'second.ts': `
    import { opened, place, text } from './shared.ts'
    opened.push('second')
    console.log(JSON.stringify({ place, text, opened }))
  `,
  'third.ts':
    "import { opened } from './shared.ts'\n\ninterface Removed {}\nthrow new Error(`opened: ${opened.length}`)\n",
}

describe('the bundles of test processes', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'bursar-bundles-'))
    mkdirSync(join(folder, 'sources'))
    for (const [name, text] of Object.entries(SOURCES)) writeFileSync(source(name), text)
    const list = { both: [source('first.ts'), source('second.ts')], failing: [source('third.ts')] }
    writeFileSync(join(folder, 'list.json'), JSON.stringify(list))
    const { status, stderr } = runNode([PROGRAM, join(folder, 'list.json'), join(folder, 'bundles')])
    assert.equal(status, 0, stderr)
  })
  after(() => rmSync(folder, { recursive: true }))

  test('files of a process run in order and share a module, which knows the path of its source', () => {
    const { stdout } = runNode([join(folder, 'bundles', 'both.mjs')])
    assert.deepEqual(JSON.parse(stdout), {
      place: pathToFileURL(source('shared.ts')).href,
      text: 'import.meta.url',
      opened: ['first', 'second'],
    })
  })

  test('a failure names the line of the source, in a process with its own instances of the modules', () => {
    const bundles = join(folder, 'bundles')
    const { status, stderr } = runNode([join(bundles, 'failing.mjs')])
    assert.equal(status, 1)
    assert.match(stderr, /Error: opened: 0/)
    assert.ok(!stderr.includes(source('third.ts')), stderr)
    const place = `${join(bundles, 'failing.mjs')}:${/failing\.mjs:(\d+:\d+)\)?$/m.exec(stderr)?.[1]}`
    const mapPlaces = createPlaceMapper(bundles)
    const expected = `${source('third.ts')}:4:7`
    assert.ok(mapPlaces(stderr).includes(expected), stderr)
    assert.equal(mapPlaces(`test at ${place}`), `test at ${expected}`)
    assert.equal(mapPlaces(`test at ${relative(process.cwd(), place)}`), `test at ${expected}`)
    assert.equal(mapPlaces('at other.mjs:1:1'), 'at other.mjs:1:1')
  })

  test('an import that is not found ends the build', () => {
    writeFileSync(source('lost.ts'), "import 'a-package-that-does-not-exist'\n")
    writeFileSync(join(folder, 'lost.json'), JSON.stringify({ lost: [source('lost.ts')] }))
    const { status, stderr } = runNode([PROGRAM, join(folder, 'lost.json'), join(folder, 'lost')])
    assert.equal(status, 1)
    assert.match(stderr, /a-package-that-does-not-exist/)
  })

  function source(name: string): string {
    return join(folder, 'sources', name)
  }
})

function runNode(args: readonly string[]) {
  return spawnSync(process.execPath, args, { encoding: 'utf8' })
}
