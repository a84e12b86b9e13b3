import type { Mode } from './mode.ts'

interface KnownChain {
  readonly chainId: number
  readonly name: string
  /** Circle's USDC contract. */
  readonly usdc: string
  /** The `name` in the EIP-712 domain of this contract. It differs between chains. */
  readonly usdcName: string
  /** The chain's name in version 1 of x402. Version 2 uses the chain's id. */
  readonly x402Name: string
  readonly explorer: string
}

/** The chain of each mode, unless the settings name another one (D13). */
export const DEFAULT_CHAINS: Readonly<Record<Mode, KnownChain>> = {
  test: {
    chainId: 84532,
    name: 'Base Sepolia',
    usdc: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    usdcName: 'USDC',
    x402Name: 'base-sepolia',
    explorer: 'https://sepolia.basescan.org',
  },
  live: {
    chainId: 8453,
    name: 'Base',
    usdc: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    usdcName: 'USD Coin',
    x402Name: 'base',
    explorer: 'https://basescan.org',
  },
}

/** Returns what we know of a chain. Undefined if its operator chose a chain that we do not know. */
export function findChain(chainId: number): KnownChain | undefined {
  return Object.values(DEFAULT_CHAINS).find((chain) => chain.chainId === chainId)
}

/** Where test USDC comes from: an endpoint that our server calls, or a web site that people visit. */
export type Faucet = { readonly kind: 'endpoint' | 'site'; readonly url: string }
