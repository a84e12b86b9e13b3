import { keccak256 } from 'viem/utils'
import type { SignedAuthorization } from 'viem'
import { signAuthorization } from 'viem/accounts'
import { delegateAddress, delegationCode, entryPointAddress } from '../chain/account-contracts.ts'
import { openBundlerAccount } from './bundler-account.ts'
import type { BundlerAccount } from './bundler-account.ts'
import type { ChainNode } from './chain-node.ts'
import type { EnclaveContext } from './context.ts'
import { findNextNonce } from './find-next-nonce.ts'
import { BUNDLED_MAX, BUNDLER_IDLE_MS, BUNDLER_PAUSE_MS, BUNDLE_COMPANY_MS, BUNDLE_RETRY_MS } from './limits.ts'
import { parseChainId } from './prepare-send.ts'
import { BUNDLER } from './records.ts'
import type { BroadcastRecord, TransactionRecord, WalletRecord } from './records.ts'
import { encodeBundle, sumGas } from './user-operation.ts'
import type { UserOperation } from './user-operation.ts'
import { getWallet } from './wallets.ts'
import type { Wakeup } from './wakeup.ts'

/** The state of one chain's bundler. */
interface Bundling {
  readonly caip2: string
  readonly chain: ChainNode
  readonly wakeup: Wakeup
}

interface Operation extends TransactionRecord {
  readonly operation: UserOperation
}

type Authorization = SignedAuthorization

/**
 * The gas that a bundle needs in addition to the gas of its calls: `OPERATION_GAS` for what the EntryPoint does for
 * each operation, and `BUNDLE_GAS` for the bundle's transaction and its calldata.
 */
const OPERATION_GAS = 60_000n
const BUNDLE_GAS = 200_000n
const NO_FEES = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n } as const

/**
 * Sends user operations to their chains when they are due, until `signal` aborts. A bundle is a transaction of the
 * bundler that executes user operations, normally a single one.
 *
 * A bundle is stored before it is sent, together with the list of its operations. After that, `followTransactions`
 * sends it again until it is mined. Each operation has its own nonce key. So operations do not wait for each other, and
 * none can be executed twice, whatever happens to its bundles.
 */
export async function bundleOperations(context: EnclaveContext, signal: AbortSignal): Promise<void> {
  const bundlings = [...context.chains].flatMap(([caip2, chain]): Bundling[] => {
    const wakeup = context.wakeups.get(caip2)
    return wakeup === undefined ? [] : [{ caip2, chain, wakeup }]
  })
  await Promise.all(bundlings.map((bundling) => runBundler(context, bundling, signal)))
}

async function runBundler(context: EnclaveContext, bundling: Bundling, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // If the chain is unreachable, the due operations are bundled later.
    const retryMs = await bundleDue(context, bundling).then(
      () => 0,
      () => BUNDLE_RETRY_MS,
    )
    const nextDue = context.store.findNextDue(bundling.caip2)
    const untilDueMs = nextDue === null ? BUNDLER_IDLE_MS : nextDue - Date.now()
    const waitMs = Math.max(retryMs, BUNDLER_PAUSE_MS, Math.min(untilDueMs, BUNDLER_IDLE_MS))
    await bundling.wakeup.wait(waitMs, signal)
  }
}

async function bundleDue(context: EnclaveContext, bundling: Bundling): Promise<void> {
  const { store } = context
  const { caip2, chain } = bundling
  const due = store.listDue(caip2, Date.now(), BUNDLED_MAX).filter(isOperation)
  const groups = groupOperations(due)
  if (groups.length === 0) return
  const account = openBundlerAccount(context)
  const undelegated = await findUndelegated(context, bundling, groups.flat())
  let nonce = await findBundleNonce(context, chain, { caip2, account })
  const broadcasts: BroadcastRecord[] = []
  for (const group of groups) {
    const authorizations = await authorize(context, { caip2, chain, undelegated, group })
    const bundle = await signBundle(account, { caip2, nonce, group, authorizations })
    store.inTransaction(() => {
      store.addBroadcast(bundle)
      store.carry(
        group.map(({ id }) => id),
        bundle.hash,
      )
    })
    broadcasts.push(bundle)
    nonce += 1
  }
  // Rejections are ignored here. `followTransactions` sends the bundle again, or finds that it is lost.
  await chain.rebroadcast(broadcasts.map(({ raw }) => raw))
}

function isOperation(tx: TransactionRecord): tx is Operation {
  return tx.operation !== null
}

/**
 * Groups operations into bundles. Each operation is sent alone, except those with the fault `two_in_one_bundle`, which
 * are sent in pairs.
 */
function groupOperations(due: readonly Operation[]): Operation[][] {
  const alone = due.filter(({ fault }) => fault !== 'two_in_one_bundle')
  const sharing = due.filter(({ fault }) => fault === 'two_in_one_bundle')
  const pairs = Array.from({ length: Math.ceil(sharing.length / 2) }, (_, pair) =>
    sharing.slice(2 * pair, 2 * pair + 2),
  )
  const ready = pairs.filter((pair) => pair.length === 2 || hasWaitedForCompany(pair))
  return [...alone.map((operation) => [operation]), ...ready]
}

function hasWaitedForCompany([operation]: readonly Operation[]): boolean {
  return (operation?.dueAt ?? 0) + BUNDLE_COMPANY_MS <= Date.now()
}

/** Returns the wallets, by id, that do not have the delegate's code yet. */
async function findUndelegated(
  { store, delegations }: EnclaveContext,
  { caip2, chain }: Bundling,
  operations: readonly Operation[],
): Promise<Map<string, WalletRecord>> {
  const ids = [...new Set(operations.map(({ walletId }) => walletId))].filter((id) => !delegations.has(caip2, id))
  const wallets = ids.map((id) => getWallet(store, id))
  const codes = await chain.listCodes(wallets.map(({ address }) => address))
  const undelegated = wallets.filter((_, index) => codes[index] !== delegationCode)
  for (const id of ids) delegations.add(caip2, id)
  return new Map(undelegated.map((wallet) => [wallet.id, wallet]))
}

async function findBundleNonce(
  { store }: EnclaveContext,
  chain: ChainNode,
  { caip2, account }: { caip2: string; account: BundlerAccount },
): Promise<number> {
  const own = store.findLastNonce(BUNDLER, caip2)
  return own === null ? await chain.countTransactions(account.address) : own + 1
}

/**
 * Returns the authorizations (EIP-7702) that give the delegate's code to those wallets of the group that do not have it
 * yet. So normally only a wallet's first bundle includes an authorization.
 */
async function authorize(
  context: EnclaveContext,
  {
    caip2,
    chain,
    undelegated,
    group,
  }: { caip2: string; chain: ChainNode; undelegated: Map<string, WalletRecord>; group: readonly Operation[] },
): Promise<Authorization[]> {
  const authorizations: Authorization[] = []
  for (const { walletId } of group) {
    const wallet = undelegated.get(walletId)
    if (wallet === undefined || !undelegated.delete(walletId)) continue
    authorizations.push(await signDelegation(context, { caip2, chain, wallet }))
  }
  return authorizations
}

/**
 * Signs an authorization. It uses the wallet's own next nonce on the chain, like a transaction of the wallet. If an
 * earlier authorization failed, its nonce is still unused, so the next nonce is read from the chain again.
 */
async function signDelegation(
  { store, vault, lanes }: EnclaveContext,
  { caip2, chain, wallet }: { caip2: string; chain: ChainNode; wallet: WalletRecord },
): Promise<Authorization> {
  return await lanes.takeTurn(wallet.id, caip2, async (turn) => {
    const nonce = await findNextNonce(store, chain, { wallet, caip2 })
    const authorization = await signAuthorization({
      privateKey: vault.open(wallet.id, store.getSealedKey(wallet.id)),
      address: delegateAddress,
      chainId: parseChainId(caip2),
      nonce,
    })
    turn.authorize(nonce)
    return authorization
  })
}

async function signBundle(
  account: BundlerAccount,
  {
    caip2,
    nonce,
    group,
    authorizations,
  }: {
    caip2: string
    nonce: number
    group: readonly Operation[]
    authorizations: readonly Authorization[]
  },
): Promise<BroadcastRecord> {
  const operations = group.map(({ operation }) => operation)
  const fields = {
    chainId: parseChainId(caip2),
    nonce,
    to: entryPointAddress,
    data: encodeBundle(operations, account.address),
    gas: operations.reduce((sum, operation) => sum + sumGas(operation) + OPERATION_GAS, BUNDLE_GAS),
    ...NO_FEES,
  } as const
  const raw = await (authorizations.length === 0
    ? account.signTransaction({ type: 'eip1559', ...fields })
    : account.signTransaction({ type: 'eip7702', ...fields, authorizationList: authorizations }))
  return { hash: keccak256(raw), sender: BUNDLER, caip2, nonce, raw }
}
