import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { PARAMETERS } from '../../server/src/x402/challenge-parameters.ts'

const PLACES = ['docs/specification.md', 'docs/site/pages/x402.md']

describe('the parameters of a challenge of MPP', () => {
  for (const place of PLACES) {
    test(`in ${place} are those that the service understands`, async () => {
      const text = await readFile(new URL(`../../${place}`, import.meta.url), 'utf8')
      const [listed = ''] = /`id`, `realm`.*?\./s.exec(text) ?? []
      const names = [...listed.matchAll(/`(\w+)`/g)].map(([, name]) => name)
      assert.deepEqual([names.length, new Set(names)], [PARAMETERS.length, new Set(PARAMETERS)])
    })
  }
})
