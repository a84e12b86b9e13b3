import { computed, narrow, pick, type RowOf } from '../../db/column.ts'
import { all, changed, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { OwnerAssertion } from '../../enclave/enclave.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { Role } from '../../values/role.ts'
import type { PasskeyRegistration } from '../passkeys/passkey.ts'
import type { OwnerPasskey, Wallet, WalletPasskey } from './wallet.ts'
import { PASSKEY_ROW, toWalletPasskey } from './wallet-passkeys-store.ts'

const { wallet_owners: owners, wallet_passkeys: passkeys, users, wallets } = tables

/** What the members of the workspace see of a wallet's owner. */
export interface WalletOwner {
  readonly walletAddress: Address
  readonly credentialId: string
  readonly name: string
  readonly userId: string
  readonly userName: string
  readonly isMember: boolean
  readonly addedAt: Date
  /** Whether the owner has signed the wallet's record. */
  readonly hasRecord: boolean
}

/** A wallet that a user owns, with the names of the user's passkeys. */
export interface OwnedWallet {
  readonly mode: Mode
  readonly address: Address
  readonly name: string
  readonly passkeys: readonly string[]
  /** The names of the other people who can sign for the wallet. */
  readonly otherSigners: readonly string[]
}

/** A passkey that owns a wallet, with its registration; null if it was registered before registrations were kept. */
export interface RegisteredPasskey extends WalletPasskey {
  readonly registration: PasskeyRegistration | null
}

/** An owner of a wallet, and the owner's signature on the wallet's record; null until the owner has signed it. */
export interface RecordOwner extends OwnerPasskey {
  readonly name: string
  readonly recordAssertion: OwnerAssertion | null
}

const OWNER_ROW = {
  wallet_address: narrow<Address>(owners.wallet_address),
  ...pick(owners, 'credential_id', 'added_at'),
  has_record: computed.bool,
  ...pick(passkeys, 'name', 'user_id'),
  user_name: users.name,
  is_member: computed.bool,
}

const OWNED_ROW = {
  mode: narrow<Mode>(wallets.mode),
  address: narrow<Address>(wallets.address),
  name: wallets.name,
  passkeys: computed.textArray,
  other_signers: computed.textArray,
}

const REGISTERED_ROW = { ...PASSKEY_ROW, registration: narrow<PasskeyRegistration>(passkeys.registration) }

const RECORD_ROW = {
  credential_id: owners.credential_id,
  record_assertion: narrow<OwnerAssertion>(owners.record_assertion),
  ...pick(passkeys, 'public_key', 'name'),
}

type WalletKey = Pick<Wallet, 'workspaceId' | 'mode' | 'address'>

export function insertOwner(
  { workspaceId, mode, address }: WalletKey,
  { credentialId, addedAt }: { credentialId: string; addedAt: Date },
): Query<boolean> {
  return {
    name: 'insert_wallet_owner',
    text: `insert into wallet_owners (workspace_id, mode, wallet_address, credential_id, added_at)
      values ($1, $2, $3, $4, $5)`,
    values: [workspaceId, mode, address, credentialId, addedAt],
    read: changed,
  }
}

/** The wallet passkeys that own a wallet, in the order in which they were added. Uses primary keys. */
export function listOwners({ workspaceId, mode, address }: WalletKey): Query<RegisteredPasskey[]> {
  return {
    name: 'list_wallet_owners',
    text: `select p.user_id, p.credential_id, p.public_key, p.name, p.transports, p.created_at, p.registration
      from wallet_owners o join wallet_passkeys p on p.credential_id = o.credential_id
      where o.workspace_id = $1 and o.mode = $2 and o.wallet_address = $3 order by o.added_at, o.credential_id`,
    values: [workspaceId, mode, address],
    read: all(REGISTERED_ROW, (row) => ({ ...toWalletPasskey(row), registration: row.registration })),
  }
}

/** The owners of these wallets, each wallet's first owner first. Uses primary keys. */
export function listWalletOwners(workspaceId: string, mode: Mode, addresses: readonly Address[]): Query<WalletOwner[]> {
  return {
    name: 'list_owners_of_wallets',
    text: `select o.wallet_address, o.credential_id, o.added_at, o.record_assertion is not null as has_record, p.name,
        p.user_id, u.name as user_name, exists (
          select 1 from members m where m.workspace_id = o.workspace_id and m.user_id = p.user_id) as is_member
      from wallet_owners o
      join wallet_passkeys p on p.credential_id = o.credential_id
      join users u on u.id = p.user_id
      where o.workspace_id = $1 and o.mode = $2 and o.wallet_address = any($3::text[])
      order by o.wallet_address, o.added_at, o.credential_id`,
    values: [workspaceId, mode, addresses],
    read: all(OWNER_ROW, toOwner),
  }
}

/**
 * The SQL for the names of the people who can sign for the wallet with these columns, without one user: the members who
 * own it with a passkey and have one of these roles. Uses primary keys.
 */
export function otherSigners({
  workspaceId,
  mode,
  address,
  userId,
  roles,
}: {
  readonly [Name in 'workspaceId' | 'mode' | 'address' | 'userId' | 'roles']: string
}): string {
  return `array(
      select distinct u.name from wallet_owners o
      join wallet_passkeys p on p.credential_id = o.credential_id
      join members m on m.workspace_id = o.workspace_id and m.user_id = p.user_id
      join users u on u.id = p.user_id
      where o.workspace_id = ${workspaceId} and o.mode = ${mode} and o.wallet_address = ${address}
        and p.user_id <> ${userId} and m.role = any(${roles}::text[])
      order by u.name)`
}

/** The wallets of both modes that a user owns, oldest first. Uses `wallet_passkeys_by_user` and `wallet_owners_of_passkey`. */
export function listWalletsOwnedBy(
  { workspaceId, userId, roles }: { workspaceId: string; userId: string; roles: readonly Role[] },
  rowsMax: number,
): Query<OwnedWallet[]> {
  const wallet = { workspaceId: 'w.workspace_id', mode: 'w.mode', address: 'w.address', userId: '$2', roles: '$3' }
  return {
    name: 'list_wallets_owned_by',
    text: `select w.mode, w.address, w.name, owned.passkeys, ${otherSigners(wallet)} as other_signers
      from (
        select o.workspace_id, o.mode, o.wallet_address, array_agg(p.name order by o.added_at, p.name) as passkeys
        from wallet_passkeys p join wallet_owners o on o.credential_id = p.credential_id
        where p.user_id = $2 and o.workspace_id = $1 group by o.workspace_id, o.mode, o.wallet_address
      ) owned
      join wallets w on w.workspace_id = owned.workspace_id and w.mode = owned.mode and w.address = owned.wallet_address
      order by w.created_at, w.address limit $4`,
    values: [workspaceId, userId, roles, rowsMax],
    read: all(OWNED_ROW, (row) => ({
      mode: row.mode,
      address: row.address,
      name: row.name,
      passkeys: row.passkeys,
      otherSigners: row.other_signers,
    })),
  }
}

/** The owners of one wallet with their signatures on its record, the first owner first. Uses primary keys. */
export function listRecordOwners(workspaceId: string, mode: Mode, address: Address): Query<RecordOwner[]> {
  return {
    name: 'list_record_owners',
    text: `select o.credential_id, o.record_assertion, p.public_key, p.name
      from wallet_owners o join wallet_passkeys p on p.credential_id = o.credential_id
      where o.workspace_id = $1 and o.mode = $2 and o.wallet_address = $3 order by o.added_at, o.credential_id`,
    values: [workspaceId, mode, address],
    read: all(RECORD_ROW, (row) => ({
      credentialId: row.credential_id,
      publicKeyCose: row.public_key,
      name: row.name,
      recordAssertion: row.record_assertion,
    })),
  }
}

/** Returns false if the passkey does not own the wallet. */
export function deleteOwner({ workspaceId, mode, address }: WalletKey, credentialId: string): Query<boolean> {
  return {
    name: 'delete_wallet_owner',
    text: `delete from wallet_owners
      where workspace_id = $1 and mode = $2 and wallet_address = $3 and credential_id = $4`,
    values: [workspaceId, mode, address, credentialId],
    read: changed,
  }
}

/**
 * Stores the signature with which an owner signed the wallet's record, in the row of this owner. Returns false if the
 * passkey does not own the wallet.
 */
export function saveRecordAssertion(
  { workspaceId, mode, address }: WalletKey,
  credentialId: string,
  assertion: OwnerAssertion,
): Query<boolean> {
  return {
    name: 'save_record_assertion',
    text: `update wallet_owners set record_assertion = $5
      where workspace_id = $1 and mode = $2 and wallet_address = $3 and credential_id = $4`,
    values: [workspaceId, mode, address, credentialId, JSON.stringify(assertion)],
    read: changed,
  }
}

function toOwner(row: RowOf<typeof OWNER_ROW>): WalletOwner {
  return {
    walletAddress: row.wallet_address,
    credentialId: row.credential_id,
    name: row.name,
    userId: row.user_id,
    userName: row.user_name,
    isMember: row.is_member,
    addedAt: row.added_at,
    hasRecord: row.has_record,
  }
}
