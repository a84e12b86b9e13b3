import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { cleanLine } from './clean-text.ts'
import { formatCommand } from './format-command.ts'
import { formatPairs, formatTable } from './format-table.ts'
import { createPaint, usesColor } from './style.ts'

const PLAIN = createPaint(false)

describe('tables', () => {
  const columns = [
    { title: 'NAME', value: ({ name }: { name: string; usdc: string }) => name },
    { title: 'USDC', value: ({ usdc }: { usdc: string }) => usdc, alignRight: true },
  ]

  test('columns are as wide as their widest cell, and numbers end below each other', () => {
    const rows = [
      { name: 'a', usdc: '1.5' },
      { name: 'café ☕️', usdc: '100' },
    ]
    assert.equal(formatTable(columns, rows, PLAIN), 'NAME    USDC\na        1.5\ncafé ☕️   100\n')
  })

  test('a cell cannot leave its row', () => {
    const table = formatTable(columns, [{ name: 'a\nb\u001b[1m', usdc: '1' }], PLAIN)
    assert.equal(table.split('\n').length, 3)
    assert.ok(!table.includes('\u001b'))
  })

  test('pairs without a value are left out', () => {
    assert.equal(
      formatPairs(
        [
          ['A', '1'],
          ['Long', null],
          ['BC', '2'],
        ],
        PLAIN,
      ),
      'A   1\nBC  2\n',
    )
  })
})

describe('colours', () => {
  const cases: readonly (readonly [Readonly<Record<string, string>>, boolean, boolean])[] = [
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ TERM: 'dumb' }, true, false],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
  ]
  for (const [env, isTerminal, expected] of cases) {
    test(`${JSON.stringify(env)}, ${isTerminal ? 'a terminal' : 'no terminal'}: ${expected}`, () => {
      assert.equal(usesColor(env, isTerminal), expected)
    })
  }
})

describe('a command to copy', () => {
  test('arguments with unusual characters are quoted', () => {
    const argv = ['bursar', 'pay', '0xab', '1.5', '--memo', "it's $HOME", '--x', '']
    assert.equal(formatCommand(argv), String.raw`bursar pay 0xab 1.5 --memo 'it'\''s $HOME' --x ''`)
  })

  test('a shell reads exactly these arguments, and the text itself is harmless', () => {
    const argv = ['plain', "it's", 'a\n\u001b[2J\\b', "tab\t'quote'", '$(id) `id` $HOME', '\u202eé', '']
    const command = formatCommand(argv)
    assert.equal(cleanLine(command), command)
    const print = `process.stdout.write(JSON.stringify(process.argv.slice(1)))`
    const script = `export LC_ALL=C.UTF-8; "$0" -e "$1" -- ${command}`
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script, process.execPath, print], {
      encoding: 'utf8',
    })
    assert.deepEqual(JSON.parse(stdout), argv, stderr)
  })
})
