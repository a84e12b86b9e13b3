import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { after, describe, test } from 'node:test'
import { formatViolation } from './rule.ts'
import { ALL_RULES, LISTED_RULES } from './rules/all-rules.ts'
import { readSourceTree } from './source-tree.ts'

const tree = readSourceTree(fileURLToPath(new URL('../..', import.meta.url)))

describe('the rules for the source files', () => {
  test('the source files can be read', () => {
    const paths = tree.modules.map(({ path }) => path)
    assert.ok(paths.includes('server/src/lib/clock.ts'), 'the scanner sees the server')
    assert.ok(paths.includes('test/house/house.test.ts'), 'the scanner sees this file')
  })

  after(() => {
    for (const rule of LISTED_RULES) {
      for (const found of rule.check(tree)) process.stdout.write(`to consider: ${formatViolation(found)}\n`)
    }
  })

  for (const rule of ALL_RULES) {
    test(rule.name, () => {
      const violations = rule.check(tree).map(formatViolation)
      assert.equal(violations.length, 0, `\n${violations.join('\n')}`)
    })
  }
})
