const MICRO_DIGITS = 6
const CHAINS: ReadonlyMap<bigint, { readonly name: string; readonly usdc: string }> = new Map([
  [8453n, { name: 'Base', usdc: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913' }],
  [84532n, { name: 'Base Sepolia (test)', usdc: '0x036cbd53842c5426634e7929541ec2318f3dcf7e' }],
])
/** The USDC of the sandbox, which is at the same address on each of its chains. */
const LOCAL_USDC = '0x3d0c9cc9cc5ea8fe342a977d9b58393b2480687d'
const MINUTE_MS = 60_000
const FINGERPRINT_BYTES = 8

export function formatChain(chainId: bigint): string {
  return CHAINS.get(chainId)?.name ?? `chain ${chainId}`
}

/**
 * Returns whether the contract is USDC: the contract that the issuer of USDC publishes for this chain, or, if this page
 * comes from this computer, the contract of the sandbox.
 */
export function isUsdc(chainId: bigint, token: string): boolean {
  return CHAINS.get(chainId)?.usdc === token || (token === LOCAL_USDC && isLocal())
}

/** Returns whether this computer serves the page: no other computer can use a name that ends with `.localhost`. */
function isLocal(): boolean {
  const { location } = globalThis as { location?: { readonly hostname: string } }
  return location?.hostname.endsWith('.localhost') ?? false
}

/** Formats millionths of a token. Shows at least two decimals, but no further zeros at the end: `1250000` is "1.25". */
export function formatAmount(amount: bigint): string {
  const digits = amount.toString().padStart(MICRO_DIGITS + 1, '0')
  const whole = digits.slice(0, -MICRO_DIGITS).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
  const fraction = digits.slice(-MICRO_DIGITS).replace(/0{1,4}$/, '')
  return `${whole}.${fraction}`
}

/** Formats an amount of a token. Only the USDC that this page knows is called USDC. */
export function formatTokenAmount(amount: bigint, chainId: bigint, token: string): string {
  return isUsdc(chainId, token) ? `${formatAmount(amount)} USDC` : `${formatAmount(amount)} of the token below`
}

/**
 * Formats a time as the dashboard does, with the time zone: `12 Nov 2026, 14:03 CET`. The time zone is that of the
 * browser, unless another one is named.
 */
export function formatTime(time: Date, timeZone?: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
    ...(timeZone === undefined ? {} : { timeZone }),
  }).format(time)
}

export function formatTimeLeft(expiresAt: Date, now: Date): string {
  const minutes = Math.max(1, Math.ceil((expiresAt.getTime() - now.getTime()) / MINUTE_MS))
  return minutes === 1 ? 'less than a minute' : `${minutes} minutes`
}

/** Formats the start of a hash, so that two people can compare it: "4F2A 91C0 …". */
export function formatFingerprint(hash: Uint8Array): string {
  const hex = Array.from(hash.slice(0, FINGERPRINT_BYTES), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.toUpperCase().replaceAll(/(.{4})(?=.)/g, '$1 ')
}
