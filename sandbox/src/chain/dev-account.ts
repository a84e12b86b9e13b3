import { keccak256, stringToHex } from 'viem/utils'
import { privateKeyToAccount } from 'viem/accounts'

/**
 * The account that owns the USDC contract on the local chains. Its key is public on purpose: those chains hold no real
 * money.
 */
export const devAccount = privateKeyToAccount(keccak256(stringToHex('bursar sandbox usdc owner')))
