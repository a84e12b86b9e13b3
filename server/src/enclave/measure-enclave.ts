import { readProcessMs } from '../lib/clock.ts'
import type { Measurements } from '../lib/measurements.ts'
import type { Enclave, RequestToSign } from './enclave.ts'
import { EnclaveRefused, EnclaveUnavailable } from './errors.ts'

/** Returns the same enclave, whose calls are measured. */
export function measureEnclave(enclave: Enclave, measurements: Measurements): Enclave {
  async function measure<Result>(name: keyof Enclave, call: () => Promise<Result>): Promise<Result> {
    const start = readProcessMs()
    const ended = (outcome: string): void => measurements.enclaveCallEnded(name, outcome, readProcessMs() - start)
    try {
      const result = await call()
      ended(outcomeOf(result))
      return result
    } catch (error) {
      ended(outcomeOfError(error))
      throw error
    }
  }
  function measureSubmit<Result>(name: keyof Enclave, request: RequestToSign<Result>): RequestToSign<Result> {
    return { payload: request.payload, submit: (assertion) => measure(name, () => request.submit(assertion)) }
  }

  return {
    ...enclave,
    createWallet: (wallet) => measure('createWallet', () => enclave.createWallet(wallet)),
    readOwners: (wallet) => measure('readOwners', () => enclave.readOwners(wallet)),
    readRules: (slot) => measure('readRules', () => enclave.readRules(slot)),
    compareRecord: (expected) => measure('compareRecord', () => enclave.compareRecord(expected)),
    prepareRules: (change) => measureSubmit('prepareRules', enclave.prepareRules(change)),
    prepareOwners: (change) => measureSubmit('prepareOwners', enclave.prepareOwners(change)),
    prepareTransfer: (transfer) => measureSubmit('prepareTransfer', enclave.prepareTransfer(transfer)),
    sendTransfer: (order) => measure('sendTransfer', () => enclave.sendTransfer(order)),
    signAuthorization: (order) => measure('signAuthorization', () => enclave.signAuthorization(order)),
    findTransfer: (referenceId, workspaceId) =>
      measure('findTransfer', () => enclave.findTransfer(referenceId, workspaceId)),
    awaitTxHash: (transactionId, wait) => measure('awaitTxHash', () => enclave.awaitTxHash(transactionId, wait)),
    checkReachable: () => measure('checkReachable', () => enclave.checkReachable()),
  }
}

/** The calls that can move money return the kind of their outcome. All others throw unless they succeeded. */
function outcomeOf(result: unknown): string {
  const isOutcome = typeof result === 'object' && result !== null && 'kind' in result
  return isOutcome && typeof result.kind === 'string' ? result.kind : 'ok'
}

function outcomeOfError(error: unknown): string {
  if (error instanceof EnclaveRefused) return 'refused'
  return error instanceof EnclaveUnavailable ? 'unknown' : 'failed'
}
