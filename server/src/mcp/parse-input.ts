import { parseAddress, ZERO_ADDRESS, type Address } from '../values/address.ts'
import { parseAmount, type MicroUsdc } from '../values/money.ts'
import { invalid } from './check-arguments.ts'

/** Parses an amount. The error says how to write one, because models write amounts in many ways. */
export function parseAmountInput(text: string, path = 'amount_usdc'): MicroUsdc {
  const amountMicro = parseAmount(text)
  if (amountMicro !== null) return amountMicro
  const message =
    'must be an amount in dollars with at most 6 decimal places and nothing else, such as "1.25": no currency sign, no comma, no exponent, and more than 0'
  throw invalid([{ path, message }], 'amount_invalid')
}

/**
 * Parses a recipient. Names, such as ENS names or the name of a recipient in the workspace, are never resolved: the
 * model, or somebody who influences it, could mean a recipient other than the one that is found.
 */
export function parseRecipient(text: string, usdc: Address): Address {
  const to = parseAddress(text)
  if (to === ZERO_ADDRESS || to === usdc) {
    const message = 'must not be the zero address or the USDC contract, where the money would be lost'
    throw invalid([{ path: 'to', message }], 'address_invalid')
  }
  if (to !== null) return to
  const message = `must be an address: 0x and 40 hexadecimal digits${whyNotAddress(text)}. Ask the recipient or the user for the address; do not guess it`
  throw invalid([{ path: 'to', message }], 'address_invalid')
}

/** Says why a text that was meant as an address is not a valid address. */
export function whyNotAddress(text: string): string {
  if (!/^0x/i.test(text)) return '. Names are not looked up'
  return /^0x[0-9a-fA-F]{40}$/.test(text)
    ? '. Its upper and lower case do not match its checksum, so at least one character is probably wrong'
    : `. This one has ${text.length - 2} characters after 0x, or characters that are not hexadecimal digits`
}
