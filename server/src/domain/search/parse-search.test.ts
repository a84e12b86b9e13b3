import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { microUsdc } from '../../values/money.ts'
import { LARGEST_AMOUNT, parseSearch, SMALLEST_AMOUNT, type Search } from './parse-search.ts'

const ID = 'pay_01M7ZJDS8P0000000000030D0F'
const HASH = `0x${randomBytes(32).toString('hex')}`
const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

const micro = (usdc: number) => microUsdc(BigInt(usdc * 1_000_000))
const between = (minMicro: bigint, maxMicro: bigint): Search => ({
  kind: 'amount',
  range: { minMicro: microUsdc(minMicro), maxMicro: microUsdc(maxMicro) },
})
const hex = (head: string, tail = ''): Search => ({ kind: 'hex', head, tail })
const words = (text: string, usdc: number | null = null): Search => ({
  kind: 'text',
  text,
  amountMicro: usdc === null ? null : micro(usdc),
})

describe('a search text', () => {
  const cases: readonly (readonly [text: string, meaning: Search])[] = [
    [ID, { kind: 'id', id: ID }],
    [ID.slice(0, -1), words(ID.slice(0, -1))],
    ['ref_01M7ZJDS8P0000000000030D0F', words('ref_01M7ZJDS8P0000000000030D0F')],
    [HASH.toUpperCase().replace('X', 'x'), hex(HASH)],
    [ADDRESS, hex(ADDRESS.toLowerCase())],
    ['0x744205E4', hex('0x744205e4')],
    ['0x7442…C78D', hex('0x7442', 'c78d')],
    ['0x7442...C78D', hex('0x7442', 'c78d')],
    ['…C78D', hex('', 'c78d')],
    ['0x744', words('0x744')],
    ['0x7442g', words('0x7442g')],
    ['…', words('…')],
    ['>100', between(100_000_001n, LARGEST_AMOUNT)],
    ['>= 100', between(100_000_000n, LARGEST_AMOUNT)],
    ['<=5', between(SMALLEST_AMOUNT, 5_000_000n)],
    ['<5', between(SMALLEST_AMOUNT, 4_999_999n)],
    ['=5.5', between(5_500_000n, 5_500_000n)],
    ['10..20', between(10_000_000n, 20_000_000n)],
    ['1,000.5..2,000', between(1_000_500_000n, 2_000_000_000n)],
    ['77.89', words('77.89', 77.89)],
    ['1,234', words('1,234', 1_234)],
    ['1,23', words('1,23')],
    ['>lots', words('>lots')],
    ['10..', words('10..')],
    ['lunch', words('lunch')],
  ]
  for (const [text, meaning] of cases) {
    test(`${text} is ${meaning.kind}`, () => assert.deepEqual(parseSearch(text, 'payment'), meaning))
  }
})
