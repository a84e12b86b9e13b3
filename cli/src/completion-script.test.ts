import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { completionScript } from './completion-script.ts'
import { describeProgram } from './describe-program.ts'
import { createProgram } from './program.ts'

const PROGRAM = describeProgram(createProgram(async () => undefined))

/** Asks bash to complete a line, and returns what it offers. */
function completeInBash(words: readonly string[]): string[] {
  const script = completionScript(PROGRAM, 'bash')
  const line = words.map((word) => `'${word}'`).join(' ')
  const program = `${script}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _bursar; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-c', program], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return stdout.split('\n').filter((word) => word !== '')
}

describe('completion', () => {
  test('bash offers commands, commands below them, and options', () => {
    assert.deepEqual(
      completeInBash(['bursar', 'pay']),
      ['payments', 'pay'].toSorted((a, b) => a.length - b.length),
    )
    assert.deepEqual(completeInBash(['bursar', 'payments', 'g']), ['get'])
    assert.deepEqual(completeInBash(['bursar', 'webhooks', 'listen', '--f']), ['--forward-to'])
    assert.deepEqual(completeInBash(['bursar', '--json', 'pay', '--m']), ['--memo'])
  })

  test('every shell gets every command', () => {
    const names = PROGRAM.commands.map(({ name }) => name)
    for (const shell of ['bash', 'zsh', 'fish'] as const) {
      const script = completionScript(PROGRAM, shell)
      for (const name of names) assert.ok(script.includes(name), `${shell}: ${name}`)
    }
  })
})

describe('the help', () => {
  const all = PROGRAM.commands.flatMap((command) => [command, ...command.commands])

  test('every command, argument and option is described in a sentence', () => {
    for (const { path, description, arguments: args, options } of all) {
      for (const text of [description, ...[...args, ...options].map((one) => one.description)]) {
        assert.match(text, /^[A-Z].*\.$/s, `${path}: ${text}`)
      }
    }
  })

  test('no option takes a secret', () => {
    for (const { options } of all) {
      for (const { flags } of options) assert.doesNotMatch(flags, /token|secret|api-key|password/i)
    }
  })
})
