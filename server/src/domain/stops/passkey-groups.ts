import type { Address } from '../../values/address.ts'
import type { WalletOwner } from '../wallets/wallet-owners-store.ts'
import type { StoppedWallet } from './stop.ts'

/** The grants of a stop that one signature of one passkey resumes. */
export interface PasskeyGroup {
  readonly credentialId: string
  /** The name of the passkey. */
  readonly name: string
  /** Whether the passkey belongs to the user who is asking. */
  readonly isMine: boolean
  /** The people who can sign for all wallets of the group, the passkey's owner first. */
  readonly people: readonly string[]
  readonly wallets: readonly StoppedWallet[]
}

/**
 * Groups wallets by the passkey that signs for them, so that few signatures are needed. Takes the user's own passkeys
 * first, and those of former members last. Each time, takes the passkey that signs for the most grants, and leaves the
 * other wallets to the next ones. A wallet without owners is left out.
 */
export function groupByPasskey(
  wallets: readonly StoppedWallet[],
  owners: ReadonlyMap<Address, readonly WalletOwner[]>,
  userId: string,
): PasskeyGroup[] {
  const groups: PasskeyGroup[] = []
  let left = wallets.filter(({ address }) => (owners.get(address) ?? []).length > 0)
  while (left.length > 0) {
    const best = findBest(left, owners, userId)
    if (best === null) return groups
    groups.push(best)
    left = left.filter((wallet) => !best.wallets.includes(wallet))
  }
  return groups
}

function findBest(
  wallets: readonly StoppedWallet[],
  owners: ReadonlyMap<Address, readonly WalletOwner[]>,
  userId: string,
): PasskeyGroup | null {
  const candidates = new Map<string, { owner: WalletOwner; wallets: StoppedWallet[]; grants: number }>()
  for (const wallet of wallets) {
    for (const owner of owners.get(wallet.address) ?? []) {
      const known = candidates.get(owner.credentialId) ?? { owner, wallets: [], grants: 0 }
      known.wallets.push(wallet)
      known.grants += wallet.grants
      candidates.set(owner.credentialId, known)
    }
  }
  const isMine = ({ userId: whose }: WalletOwner): boolean => whose === userId
  const [best] = [...candidates.values()].toSorted(
    (one, other) =>
      Number(isMine(other.owner)) - Number(isMine(one.owner)) ||
      Number(other.owner.isMember) - Number(one.owner.isMember) ||
      other.grants - one.grants,
  )
  if (best === undefined) return null
  const { owner } = best
  const others = [...candidates.values()].filter((one) => best.wallets.every((wallet) => one.wallets.includes(wallet)))
  return {
    credentialId: owner.credentialId,
    name: owner.name,
    isMine: isMine(owner),
    people: [...new Set([owner.userName, ...others.map((one) => one.owner.userName)])],
    wallets: best.wallets,
  }
}
