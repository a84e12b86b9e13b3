import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { findTestFiles } from './test-files.ts'

const FILES = ['server/src/a.test.ts', 'server/src/b.ts', 'sandbox/node_modules/x/c.test.ts', 'test/flows/d.test.ts']
const root = mkdtempSync(join(tmpdir(), 'bursar-test-files-'))
for (const file of FILES) {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), '')
}
after(() => rmSync(root, { recursive: true }))

test('without arguments, every test of the project is run, but none of a dependency', () => {
  assert.deepEqual(findTestFiles(root, []).files, ['server/src/a.test.ts', 'test/flows/d.test.ts'])
})

test('a file, a folder and a glob select their tests, each one once', () => {
  const { files, unmatched } = findTestFiles(root, ['server/src/a.test.ts', 'server', 'test/**/d*.test.ts'])
  assert.deepEqual(files, ['server/src/a.test.ts', 'test/flows/d.test.ts'])
  assert.equal(unmatched, undefined)
})

test('a glob that also matches folders and other files selects only tests', () => {
  assert.deepEqual(findTestFiles(root, ['server/**']).files, ['server/src/a.test.ts'])
})

test('an argument that selects no test is reported', () => {
  assert.equal(findTestFiles(root, ['server', 'nothing/*.test.ts']).unmatched, 'nothing/*.test.ts')
  assert.equal(findTestFiles(root, ['server/src/b.ts']).unmatched, 'server/src/b.ts')
})
