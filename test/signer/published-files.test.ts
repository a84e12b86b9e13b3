import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DIST = join(ROOT, 'signer', 'dist')
/** The pages, each with how many bytes it and all files that it loads may have, compressed. */
const PAGES = { 'index.html': 42_000, 'verify.html': 53_000 } as const
/** A program for Node.js, which no page loads. It may ask a node of the chain. */
const PROGRAM = 'bursar-verify.mjs'
/** The files that belong to no page. */
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

  for (const [page, bytesMax] of Object.entries(PAGES)) {
    test(`that ${page} loads are together smaller than ${bytesMax / 1_000} kB, compressed`, () => {
      const bytes = listLoaded(page).reduce((sum, { content }) => sum + gzipSync(content).length, 0)
      assert.ok(bytes < bytesMax, `${bytes} bytes`)
    })
  }

  test('name no other site, and use nothing that could make a request or run text as code', () => {
    for (const { name, content } of files.filter(({ name }) => name !== PROGRAM)) {
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
      [...modules, PROGRAM, ...Object.keys(PAGES), 'signer.css'].toSorted((a, b) => (a < b ? -1 : 1)),
    )
  })
})

/** Returns the page, and the files that it loads, also those that its modules import. */
function listLoaded(page: string): readonly (typeof files)[number][] {
  const loaded = new Map<string, (typeof files)[number]>()
  const load = (name: string): void => {
    const file = files.find((one) => one.name === name)
    assert.ok(file !== undefined, name)
    if (loaded.has(name)) return
    loaded.set(name, file)
    const text = file.content.toString()
    for (const [, path = ''] of text.matchAll(/(?:src|href)="\/([^"]+)"/g)) load(path)
    for (const [, path = ''] of text.matchAll(/(?:from|import) '(\.[^']+)'/g)) load(join(dirname(name), path))
  }
  load(page)
  return [...loaded.values()]
}
