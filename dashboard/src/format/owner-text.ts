import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'

export type WalletOwner = Wallet['owners'][number]

/** A passkey that owns a wallet, for use in a sentence: `your passkey “Laptop”`. */
export function formatOwner({
  is_mine,
  is_member,
  user_name,
  name,
}: Pick<WalletOwner, 'is_mine' | 'is_member' | 'user_name' | 'name'>): string {
  const note = is_member ? '' : ' (former member)'
  return `${is_mine ? 'your' : `${user_name}’s`} passkey “${name}”${note}`
}

/** Like `formatOwner`, but with a capital first letter. */
export function formatOwnerTitle(owner: Parameters<typeof formatOwner>[0]): string {
  const text = formatOwner(owner)
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/**
 * The passkeys that own a wallet, all of them (`and`) or any of them (`or`): `your passkey “Laptop” or Bob’s passkey
 * “Key”`.
 */
export function formatOwners(owners: readonly WalletOwner[], word: 'and' | 'or'): string {
  const type = word === 'and' ? 'conjunction' : 'disjunction'
  return new Intl.ListFormat('en', { type }).format(owners.map(formatOwner))
}

/** Says who else can sign, in a sentence: `Ada or Bob can sign.` */
export function formatSigners(names: readonly string[]): string {
  if (names.length === 0) return 'Nobody else can sign.'
  return `${new Intl.ListFormat('en', { type: 'disjunction' }).format(names)} can sign.`
}

/** Whether a passkey of the user owns the wallet. */
export function isOwnedByMe({ owners }: Pick<Wallet, 'owners'>): boolean {
  return owners.some(({ is_mine }) => is_mine)
}

/** Whether the user must confirm the wallet with a passkey of theirs before they can sign for it. */
export function mustConfirm(wallet: Pick<Wallet, 'owners'>): boolean {
  return isOwnedByMe(wallet) && !canSign(wallet)
}

/** Whether the user can sign for the wallet now: the signer page needs the record that their passkey has signed. */
export function canSign({ owners }: Pick<Wallet, 'owners'>): boolean {
  return owners.some(({ is_mine, has_record }) => is_mine && has_record)
}
