/** The URLs and ports of the sandbox's programs. The eight ports are consecutive. */
export interface Addresses {
  readonly baseUrl: string
  readonly authUrl: string
  /** Another host on the port of `authUrl`. Browsers resolve all names below `localhost` to this machine. */
  readonly signerUrl: string
  readonly controlUrl: string
  readonly enclaveUrl: string
  readonly sellerUrl: string
  readonly rpcUrls: { readonly test: string; readonly live: string }
  readonly ports: {
    readonly api: number
    readonly auth: number
    readonly control: number
    readonly enclave: number
    readonly testChain: number
    readonly liveChain: number
    readonly postgres: number
    readonly seller: number
  }
}

export const PORTS_COUNT = 8
export const LOOPBACK = '127.0.0.1'
export const CHAIN_IDS = { test: 84532, live: 8453 } as const
export const MODES = ['test', 'live'] as const
export type Mode = (typeof MODES)[number]

/** Derives all addresses from the first port. */
export function addressesFrom(port: number): Addresses {
  const url = (offset: number): string => `http://localhost:${port + offset}`
  return {
    baseUrl: url(0),
    authUrl: url(1),
    signerUrl: `http://signer.localhost:${port + 1}`,
    controlUrl: url(2),
    enclaveUrl: url(3),
    sellerUrl: url(7),
    rpcUrls: { test: `http://${LOOPBACK}:${port + 4}`, live: `http://${LOOPBACK}:${port + 5}` },
    ports: {
      api: port,
      auth: port + 1,
      control: port + 2,
      enclave: port + 3,
      testChain: port + 4,
      liveChain: port + 5,
      postgres: port + 6,
      seller: port + 7,
    },
  }
}

/** Returns the chain's CAIP-2 id, as the enclave expects it. */
export function caip2Of(mode: Mode): string {
  return `eip155:${CHAIN_IDS[mode]}`
}
