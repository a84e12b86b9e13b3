const NETWORK_NAMES: ReadonlyMap<number, string> = new Map([
  [84_532, 'Base Sepolia'],
  [8_453, 'Base'],
])

/** The name of a chain. */
export function formatNetwork(chainId: number): string {
  return NETWORK_NAMES.get(chainId) ?? `chain ${chainId}`
}
