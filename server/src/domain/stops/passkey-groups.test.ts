import assert from 'node:assert/strict'
import { test } from 'node:test'
import { address } from '../../../../test/support/context/seed.ts'
import type { Address } from '../../values/address.ts'
import type { WalletOwner } from '../wallets/wallet-owners-store.ts'
import { groupByPasskey } from './passkey-groups.ts'

const wallet = (digit: string, grants: number) => ({ address: address(`0x${digit.repeat(40)}`), name: '', grants })
const WALLETS = [wallet('1', 1), wallet('2', 2), wallet('3', 5), wallet('4', 3)] as const
const [FIRST, SECOND, THIRD] = WALLETS.map((one) => one.address) as [Address, Address, Address]
const ADDED_AT = new Date(0)

/** The passkeys, each with its person and the wallets that it owns. */
const PASSKEYS = [
  ['desk', 'me', [FIRST]],
  ['phone', 'me', [FIRST, SECOND]],
  ['bob', 'bob', [SECOND, THIRD]],
  ['carol', 'carol', [THIRD]],
] as const

test('a user’s own passkeys come first, and each takes as many grants as it can', () => {
  const owners = new Map<Address, WalletOwner[]>()
  for (const [credentialId, userId, addresses] of PASSKEYS) {
    for (const walletAddress of addresses) {
      const owner = { walletAddress, credentialId, name: credentialId, userId, userName: userId, addedAt: ADDED_AT }
      owners.set(walletAddress, [...(owners.get(walletAddress) ?? []), { ...owner, hasRecord: true, isMember: true }])
    }
  }
  const read = (userId: string) =>
    groupByPasskey(WALLETS, owners, userId).map((group) => [
      group.credentialId,
      group.isMine,
      group.people,
      group.wallets.map((one) => one.address),
    ])
  // Nobody owns the fourth wallet.
  assert.deepEqual(read('me'), [
    ['phone', true, ['me'], [FIRST, SECOND]],
    ['bob', false, ['bob', 'carol'], [THIRD]],
  ])
  assert.deepEqual(read('carol'), [
    ['carol', true, ['carol', 'bob'], [THIRD]],
    ['phone', false, ['me'], [FIRST, SECOND]],
  ])
})
