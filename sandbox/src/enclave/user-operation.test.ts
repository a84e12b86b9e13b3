import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeFunctionData } from 'viem/utils'
import {
  entryPoint07Abi,
  entryPoint07Address,
  getUserOperationHash,
  toPackedUserOperation,
} from 'viem/account-abstraction'
import type { UserOperation as ViemOperation } from 'viem/account-abstraction'
import { encodeExecuteData } from 'viem/experimental/erc7821'
import { encodeBundle, formatOperation, hashOperation, sumGas, VERIFICATION_GAS } from './user-operation.ts'

const CHAIN_ID = 84532
const SENDER = '0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B'
const call = { to: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', data: '0xa9059cbb', value: 0n } as const
const operation = formatOperation({ sender: SENDER, key: 7n, call, callGas: 90_000n })

const same: ViemOperation<'0.7'> = {
  sender: SENDER,
  nonce: 7n << 64n,
  callData: encodeExecuteData({ calls: [call] }),
  callGasLimit: 90_000n,
  verificationGasLimit: VERIFICATION_GAS,
  preVerificationGas: 0n,
  maxFeePerGas: 0n,
  maxPriorityFeePerGas: 0n,
  paymaster: '0x7702000000000000000000000000000000000099',
  paymasterVerificationGasLimit: 0n,
  paymasterPostOpGasLimit: 0n,
  paymasterData: '0x',
  signature: '0x',
}

test("an operation's hash is the same that other tools compute for the EntryPoint of version 0.7", () => {
  const known = { chainId: CHAIN_ID, entryPointAddress: entryPoint07Address, entryPointVersion: '0.7' } as const
  assert.equal(hashOperation(operation, CHAIN_ID), getUserOperationHash({ ...known, userOperation: same }))
})

test('a bundle is the same call of handleOps that other tools encode', () => {
  const args = [[toPackedUserOperation(same)], SENDER] as const
  assert.equal(
    encodeBundle([operation], SENDER),
    encodeFunctionData({ abi: entryPoint07Abi, functionName: 'handleOps', args }),
  )
})

test("an operation's gas is the sum for its validation and its call", () => {
  assert.equal(sumGas(operation), VERIFICATION_GAS + 90_000n)
})
