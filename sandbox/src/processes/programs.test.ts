import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { BUILT_NAME, chooseFile, PROGRAMS } from './programs.ts'
import { hashSources, STAMP_NAME } from './hash-sources.ts'

const root = mkdtempSync(join(tmpdir(), 'bursar-programs-')) + sep
const build = { entry: pathToFileURL(join(root, 'src/main.ts')), output: 'dist', sources: ['src', 'lock.json'] }

describe('the file with which a program starts', () => {
  after(() => rmSync(root, { recursive: true }))
  beforeEach(() => {
    rmSync(root, { recursive: true, force: true })
    for (const folder of ['src/deep', 'dist']) mkdirSync(join(root, folder), { recursive: true })
    for (const file of ['src/main.ts', 'src/deep/a.ts', 'src/deep/a.test.ts', 'lock.json']) {
      writeFileSync(join(root, file), file)
    }
    writeFileSync(join(root, 'dist', STAMP_NAME), hashSources(root, build.sources))
  })

  const isBuilt = (): boolean => {
    const file = chooseFile(root, build)
    if (file.href === build.entry.href) return false
    assert.equal(file.href, pathToFileURL(join(root, 'dist', BUILT_NAME)).href)
    return true
  }

  test('is the build, if it was made from the current sources', () => {
    assert.equal(isBuilt(), true)
  })

  for (const [change, make] of [
    ['a changed file', () => writeFileSync(join(root, 'src/deep/a.ts'), 'changed')],
    ['a new file', () => writeFileSync(join(root, 'src/b.ts'), '')],
    ['a deleted file', () => rmSync(join(root, 'src/deep/a.ts'))],
    ['other packages', () => writeFileSync(join(root, 'lock.json'), 'changed')],
    ['no build', () => rmSync(join(root, 'dist'), { recursive: true })],
  ] as const) {
    test(`is the source, with ${change}`, () => {
      make()
      assert.equal(isBuilt(), false)
    })
  }

  test('does not depend on tests', () => {
    writeFileSync(join(root, 'src/deep/a.test.ts'), 'changed')
    assert.equal(isBuilt(), true)
  })
})

test('`npm start` runs the build of the sandbox', () => {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
  const { scripts } = JSON.parse(text) as { scripts: { start: string } }
  assert.equal(scripts.start.split(' ').at(-1), `${PROGRAMS.sandbox.output}/${BUILT_NAME}`)
})
