const UNITS = ['KiB', 'MiB', 'GiB'] as const
const STEP = 1_024

/** Formats a number of bytes, such as `1.5 MiB`. Anything above zero is at least `0.1 KiB`. */
export function formatBytes(bytes: number): string {
  let amount = bytes / STEP
  let position = 0
  for (; amount >= STEP && position < UNITS.length - 1; position += 1) amount /= STEP
  const rounded = Math.ceil(amount * 10) / 10
  return `${rounded} ${UNITS[position] ?? ''}`
}
