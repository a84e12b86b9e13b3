import { OPERATOR } from '../domain/audit/audit-entry.ts'
import type { Context } from '../domain/context.ts'
import { describeEncryptionKey } from '../domain/encryption-keys/encryption-key.ts'
import { retireLostSecrets, type LostSecrets } from '../domain/encryption-keys/retire-lost-secrets.ts'
import type { SealingKey } from '../lib/sealing.ts'

/** At most this many wallets and this many webhook endpoints are printed. */
const LISTED_MAX = 200

export interface LostKeyOptions {
  /** The encryption keys of the settings. */
  readonly keys: readonly SealingKey[]
  /** How many secrets the operator has agreed to retire. Null to change nothing. */
  readonly retired: number | null
  readonly print: (line: string) => void
}

/**
 * Says what an operator has lost together with an encryption key, and retires it if `retired` is the number of lost
 * secrets (D74a). So a command with a mistyped key changes nothing: it would report a number that nobody has agreed to.
 */
export async function runLostKey(
  ctx: Context,
  { keys, retired, print }: LostKeyOptions,
): Promise<{ isRefused: boolean }> {
  const lost = await retireLostSecrets(ctx, { keys, actor: OPERATOR, isConfirmed: false })
  const count = countSecrets(lost)
  if (count === 0 && lost.encryptionKeys.length === 0) {
    print('Nothing is lost: the encryption keys of the settings decrypt every stored secret.')
    return { isRefused: false }
  }
  printLost(lost, print)
  if (retired === null) {
    print(
      'Nothing was changed. If a copy of the key may still exist, look for it first: what is retired stays retired.',
    )
    print('Make a backup of the database. It brings everything back if the key is found later.')
    print(`Then run "npm run lost-key -- --retire ${count}".`)
    return { isRefused: false }
  }
  if (retired !== count) {
    print(`Nothing was changed: ${count} secrets are lost, and not ${retired}.`)
    return { isRefused: true }
  }
  await retireLostSecrets(ctx, { keys, actor: OPERATOR, isConfirmed: true })
  print('Retired. Start the service. It finds out at the enclave and on the chains what happened to pending payments.')
  return { isRefused: false }
}

function countSecrets({ wallets, endpoints, purchases, responses, signatures, serverKeys }: LostSecrets): number {
  const keys = sum(wallets.map((wallet) => wallet.keys))
  return keys + endpoints.length + purchases + responses + signatures + serverKeys
}

function printLost(lost: LostSecrets, print: (line: string) => void): void {
  const { encryptionKeys, wallets, endpoints, purchases, responses, signatures, serverKeys } = lost
  const names = encryptionKeys.map(describeEncryptionKey).join(' and ')
  if (names !== '') print(`The settings do not contain ${names}.`)
  const [keys, grants] = [sum(wallets.map((wallet) => wallet.keys)), sum(wallets.map((wallet) => wallet.grants))]
  print(`Lost: ${keys} signing keys of ${wallets.length} wallets. The ${grants} grants that use them are revoked:`)
  print('  their agents cannot pay any more. Owners can still withdraw the money, and give new grants on new wallets.')
  for (const wallet of wallets.slice(0, LISTED_MAX)) {
    const { mode, address, workspaceId } = wallet
    print(`  ${mode} wallet ${address} (${workspaceId}): ${wallet.keys} signing keys, ${wallet.grants} grants`)
  }
  print(
    `Lost: the secrets of ${endpoints.length} webhook endpoints. Each gets a new one. Until an owner rotates it and`,
  )
  print('  tells the receiver, receivers that verify signatures reject the deliveries.')
  for (const { id, mode, workspaceId } of endpoints.slice(0, LISTED_MAX)) {
    print(`  ${mode} endpoint ${id} (${workspaceId})`)
  }
  print(`Lost: ${purchases} purchases as they were requested. They are not signed or sent any more.`)
  print(`Lost: ${responses} stored responses of sellers. Who repeats the request does not get them.`)
  if (signatures > 0) {
    print(
      `Lost: ${signatures} signatures of owners. They stay in effect, but nobody can prove later that they were given.`,
    )
  }
  if (serverKeys > 0) print('Lost: the key of refresh tokens. A new one is made. No token and no session ends.')
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
