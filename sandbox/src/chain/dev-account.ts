import { keccak256, stringToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/** Owner of the local chains' USDC. Its key is public on purpose: it exists on chains that hold no money. */
export const devAccount = privateKeyToAccount(keccak256(stringToHex('bursar sandbox usdc owner')))
