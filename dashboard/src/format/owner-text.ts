import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'

/** The passkey that owns a wallet, for use in a sentence: `your passkey “Laptop”`. */
export function formatOwner({ is_mine, user_name, passkey_name }: Wallet['owner']): string {
  const passkey = passkey_name === null ? 'passkey' : `passkey “${passkey_name}”`
  if (is_mine) return `your ${passkey}`
  if (user_name !== null) return `${user_name}’s ${passkey}`
  return passkey_name === null ? 'a passkey that was removed from its owner’s account' : `the ${passkey}`
}

/** The same, with a capital first letter. */
export function formatOwnerTitle(owner: Wallet['owner']): string {
  const text = formatOwner(owner)
  return text.charAt(0).toUpperCase() + text.slice(1)
}
