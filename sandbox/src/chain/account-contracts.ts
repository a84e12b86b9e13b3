/** The ERC-4337 EntryPoint, version 0.7. It has this address on every chain. */
export const entryPointAddress = '0x0000000071727De22E5E9d8BAf0edAc6f37da032'

/**
 * The address of the contract that a wallet delegates to in its first sponsored send (EIP-7702). We chose the address.
 * It is the same on every local chain.
 */
export const delegateAddress = '0x7702000000000000000000000000000000007702'

/** The code of an account that delegates to the contract at `delegateAddress` (EIP-7702). */
export const delegationCode = `0xef0100${delegateAddress.slice(2).toLowerCase()}` as const
