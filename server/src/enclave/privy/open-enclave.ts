import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/logger.ts'
import type { EgressProxy } from '../../lib/outbound/egress-proxy.ts'
import { openPools, type Pools } from '../../lib/pools.ts'
import type { Enclave } from '../enclave.ts'
import { EnclaveRefused } from '../errors.ts'
import { createWithSlots } from './create-with-slots.ts'
import { describeWallet } from './describe-wallet.ts'
import { ABSENT_WALLET_PATH, createEnclaveClient, type EnclaveOptions } from './enclave-client.ts'
import { compareRecord, readOwners, readRules } from './read-record.ts'
import { prepareOwners, prepareRules } from './request-to-sign.ts'
import { prepareTransfer, sendTransfer } from './send-transfer.ts'
import { signAuthorization } from './sign-authorization.ts'
import { sameRules, toRules } from './terms.ts'
import { awaitTxHash, findTransfer } from './transactions.ts'

/** Opens the only connection to the enclave. @throws TypeError for an `apiUrl` that cannot be signed. */
export function openEnclave(
  options: EnclaveOptions,
  {
    clock,
    logger,
    pools = openPools(),
    proxy = null,
  }: { clock: Clock; logger: Logger; pools?: Pools | undefined; proxy?: EgressProxy | null },
): Enclave {
  const client = createEnclaveClient(options, { clock, logger, places: pools.lookUps, proxy })
  const places = pools.walletCreations

  /** If the enclave accepts our credentials, it returns 404 for a wallet that does not exist. */
  async function checkReachable(): Promise<void> {
    try {
      await client.getJson('checking the connection', ABSENT_WALLET_PATH)
    } catch (error) {
      if (!(error instanceof EnclaveRefused && error.status === 404)) throw error
    }
  }

  return {
    createWallet: async ({ workspaceId, ...wallet }) => createWithSlots({ client, places, workspaceId }, wallet),
    readOwners: async (wallet) => readOwners(client, wallet),
    readRules: async (slot) => readRules(client, slot),
    compareRecord: async (expected) => compareRecord(client, expected),
    describeWallet: (wallet, slots) => describeWallet(client, wallet, slots),
    toRules,
    sameRules,
    prepareRules: (change) => prepareRules(client, change),
    prepareOwners: (change) => prepareOwners(client, change),
    prepareTransfer: (transfer) => prepareTransfer(client, transfer),
    sendTransfer: async (order) => sendTransfer(client, order),
    signAuthorization: async (order) => signAuthorization(client, order),
    findTransfer: async (referenceId, workspaceId) => findTransfer(client, referenceId, workspaceId),
    awaitTxHash: async (transactionId, wait) => awaitTxHash(client, transactionId, wait),
    toEnclaveTime: client.clock.toEnclaveTime,
    requireInReach: async () => client.reach.requireInReach(),
    checkReachable,
    close: client.close,
  }
}
