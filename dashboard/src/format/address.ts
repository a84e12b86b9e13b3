const SHORT_HEAD_CHARS = 6
const SHORT_TAIL_CHARS = 4

/** Shortens an address: `0x52908400098527886E0F7030069857D2E4169EE7` becomes `0x5290…9EE7`. */
export function formatShortAddress(address: string): string {
  if (address.length <= SHORT_HEAD_CHARS + SHORT_TAIL_CHARS) return address
  return `${address.slice(0, SHORT_HEAD_CHARS)}…${address.slice(-SHORT_TAIL_CHARS)}`
}
