import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DIST = join(ROOT, 'signer', 'dist')
const SIZE_BYTES_MAX = 40_000
/** The files that no browser loads. */
const NOT_LOADED = ['SHA256SUMS', 'built-of.txt']

const files = readdirSync(DIST, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !NOT_LOADED.includes(entry.name))
  .map((entry) => {
    const path = join(entry.parentPath, entry.name)
    return { name: relative(DIST, path), content: readFileSync(path) }
  })
  .toSorted((a, b) => (a.name < b.name ? -1 : 1))

describe('the published files of the signer page', () => {
  test('have the published hashes. After a change, run: npm run build && cp signer/dist/SHA256SUMS signer/', () => {
    const sums = files.map(({ name, content }) => `${createHash('sha256').update(content).digest('hex')}  ${name}\n`)
    assert.equal(readFileSync(join(ROOT, 'signer', 'SHA256SUMS'), 'utf8'), sums.join(''))
    assert.equal(readFileSync(join(DIST, 'SHA256SUMS'), 'utf8'), sums.join(''))
  })

  test('are together smaller than 40 kB, compressed', () => {
    const bytes = files.reduce((sum, { content }) => sum + gzipSync(content).length, 0)
    assert.ok(bytes < SIZE_BYTES_MAX, `${bytes} bytes`)
  })

  test('name no other site, and use nothing that could make a request or run text as code', () => {
    for (const { name, content } of files) {
      const text = content.toString()
      assert.doesNotMatch(text, /https?:\/\/(?!\[)/, name)
      assert.doesNotMatch(
        text,
        /\b(?:fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts|eval|innerHTML|outerHTML|insertAdjacentHTML)\b|\bimport\(|new Function/,
        name,
      )
    }
  })

  test('contain every module of the sources, and nothing else', () => {
    const modules = readdirSync(join(ROOT, 'signer', 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map((name) => name.replace(/\.ts$/, '.js'))
    assert.deepEqual(
      files.map(({ name }) => name),
      [...modules, 'index.html', 'signer.css'].toSorted((a, b) => (a < b ? -1 : 1)),
    )
  })
})
