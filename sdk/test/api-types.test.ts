import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { generateTypes } from '../scripts/generate-types.ts'

test('src/api-types.ts is what openapi.json describes: run npm run openapi', async () => {
  const written = await readFile(new URL('../src/api-types.ts', import.meta.url), 'utf8')
  assert.equal(await generateTypes(), written)
})
