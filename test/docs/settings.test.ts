import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { readPages } from '../../docs/site/src/pages.ts'
import { readConfig } from '../../server/src/config.ts'

/** Production rejects these settings, so operators need not know them. */
const SANDBOX_ONLY = new Set(['CLOCK_OFFSET_MS', 'WEBHOOKS_TO_LOOPBACK'])
const REQUIRED = {
  BURSAR_ENV: 'production',
  BASE_URL: 'https://api.example.com',
  AUTH_URL: 'https://auth.example.com',
  DATABASE_URL: 'postgres://user@localhost/bursar',
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  PRIVY_APP_ID: 'app',
  PRIVY_APP_SECRET: 'secret',
  TEST_RPC_URLS: 'https://test.example.com',
  LIVE_RPC_URLS: 'https://live.example.com',
}

const { markdown = '' } = readPages().find(({ path }) => path === 'operate/settings') ?? {}
/** The rows of the table: the cell with the names and defaults, and the meaning. */
const rows = markdown
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((row) => {
    const [cell = '', ...meaning] = row.slice(2).split(' | ')
    return { cell, meaning: meaning.join(' | ') }
  })
const described = rows.flatMap(({ cell, meaning }) =>
  [...cell.matchAll(/`([A-Z_]{4,})`/g)].map(([, name = '']) => ({ name, meaning })),
)

describe('the page of settings', () => {
  test('has every setting that the service reads, and no other', () => {
    const source = readFileSync(new URL('../../server/src/config.ts', import.meta.url), 'utf8')
    const read = [...source.matchAll(/['`](\$\{prefix\}_[A-Z_]+|[A-Z]{2}[A-Z_]+)['`]/g)].flatMap(([, name = '']) =>
      name.startsWith('$') ? ['TEST', 'LIVE'].map((mode) => name.replace('${prefix}', mode)) : [name],
    )
    const expected = new Set(read.filter((name) => !SANDBOX_ONLY.has(name)))
    assert.ok(expected.size > 25)
    assert.deepEqual(described.map(({ name }) => name).toSorted(), [...expected].toSorted())
  })

  test('says the limits of each number and the values of each choice', () => {
    const faults = described.flatMap(({ name, meaning }) => {
      const fault = faultOf({ ...REQUIRED, [name]: '-' })
      const [, min, max] = new RegExp(`${name} must be a whole number from (\\d+) to (\\d+)`).exec(fault) ?? []
      const [, values] = new RegExp(`${name} must be one of ([\\w, ]+)`).exec(fault) ?? []
      const limits = min === undefined || max === undefined ? [] : [`from ${min} to ${format(max)}`]
      const told = [...limits, ...(values?.split(', ') ?? []).map((value) => `\`${value}\``)]
      return told.map((text) => ({ name, text, isTold: meaning.includes(text) }))
    })
    assert.ok(faults.length > 25)
    assert.deepEqual(
      faults.filter(({ isTold }) => !isTold),
      [],
    )
  })

  test('says the default of each setting: to set it changes nothing', () => {
    const shown = rows.flatMap(({ cell }) =>
      [...cell.matchAll(/`([A-Z_]{4,})` \(`?([^`;)]+)/g)].map(([, name = '', value = '']) => ({ name, value })),
    )
    assert.ok(shown.length > 12)
    for (const { name, value } of shown.filter((one) => one.name !== 'BURSAR_ENV')) {
      assert.deepEqual(readConfig({ ...REQUIRED, [name]: value }), readConfig(REQUIRED), name)
    }
    assert.equal(readConfig({ ...REQUIRED, BURSAR_ENV: '' }).production, false)
  })
})

function faultOf(environment: NodeJS.ProcessEnv): string {
  try {
    readConfig(environment)
    return ''
  } catch (error) {
    return String(error)
  }
}

function format(count: string): string {
  return Number(count).toLocaleString('en-US')
}
