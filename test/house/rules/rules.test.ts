import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createSourceTree } from '../source-tree.ts'
import { ALL_RULES } from './all-rules.ts'
import { SAMPLES } from './samples.ts'

describe('the rules for the source files', () => {
  for (const { rule, fails, passes } of SAMPLES) {
    fails.forEach(({ files, at }, index) => {
      test(`${rule.name}: broken by sample ${index + 1}`, () => {
        const found = rule.check(createSourceTree(files))
        assert.deepEqual(
          found.map(({ path, line }) => `${path}:${line}`),
          at,
        )
        for (const { message } of found) assert.match(message, /: \S|; \S/, 'the message names what to do instead')
      })
    })
    passes.forEach((files, index) => {
      test(`${rule.name}: followed by sample ${index + 1}`, () => {
        assert.deepEqual(rule.check(createSourceTree(files)), [])
      })
    })
  }

  test('every rule has a sample that breaks it', () => {
    const shown = SAMPLES.filter(({ fails }) => fails.length > 0).map(({ rule }) => rule.name)
    assert.deepEqual(
      ALL_RULES.map(({ name }) => name).filter((name) => !shown.includes(name)),
      [],
    )
  })
})
