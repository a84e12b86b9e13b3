import { formatCount } from './format-count.ts'

/** More than the last line of an export has. */
const LINE_BYTES_MAX = 4_096

/** Returns how many payments an export of evidence leaves out, which its last line says. */
export async function readLeftOut(content: Blob): Promise<number> {
  const lines = (await content.slice(-LINE_BYTES_MAX).text()).trimEnd().split('\n')
  const { left_out: leftOut } = JSON.parse(lines.at(-1) ?? '') as { readonly left_out: number }
  return leftOut
}

/** Says how many payments an export of evidence leaves out, and where to find out why. */
export function formatLeftOut(leftOut: number): string {
  return leftOut === 1
    ? 'The file does not contain 1 of the payments, because there is no evidence of it, or not yet. Download the evidence on its page to see why.'
    : `The file does not contain ${formatCount(leftOut)} of the payments, because there is no evidence of them, or not yet. Download the evidence on a payment’s page to see why.`
}
