import { formatUnits, keccak256, stringToHex } from 'viem/utils'
import { privateKeyToAccount } from 'viem/accounts'
import { declareOfferReceiptExtension } from '@x402/extensions/offer-receipt'
import { declarePaymentIdentifierExtension, PAYMENT_IDENTIFIER } from '@x402/extensions/payment-identifier'
import { MODES, type Mode } from '../addresses.ts'
import { BEHAVIOUR_DEFAULT, type Behaviour } from './behaviour.ts'
import { createResource, type Resource } from './resource.ts'

/** The account that the goods on the price list are paid to. It also signs offers and receipts. */
export const shopAccount = privateKeyToAccount(keccak256(stringToHex('bursar sandbox seller')))

interface Goods {
  readonly path: string
  readonly description: string
  readonly terms: Partial<Behaviour>
  readonly make: () => object
  readonly extensions?: Readonly<Record<string, unknown>>
}

const makeWeather = (): object => ({
  place: 'Lisbon',
  celsius: 21,
  sky: 'clear',
  measured_at: new Date().toISOString(),
})

const USDC_DECIMALS = 6
const GOODS: readonly Goods[] = [
  {
    path: '/ok',
    description: 'A word that the payment worked',
    terms: {},
    make: () => ({ ok: true }),
  },
  { path: '/weather', description: 'The weather in Lisbon', terms: {}, make: makeWeather },
  {
    path: '/quote',
    description: 'A price for a container from Lisbon to Santos',
    terms: { amount: '50000' },
    make: () => ({ quote_usd: '1840.00', valid_for_days: 7 }),
    extensions: {
      [PAYMENT_IDENTIFIER]: declarePaymentIdentifierExtension(false),
      ...declareOfferReceiptExtension(),
    },
  },
  {
    path: '/report',
    description: 'A report about the market for cork, paid before it is written',
    terms: { amount: '1000000', flow: 'upfront' },
    make: () => ({ title: 'Cork', pages: ['Prices rose by 3 %.', 'Stocks are low.'] }),
  },
  {
    path: '/v1/weather',
    description: 'The weather in Lisbon, by version 1 of x402',
    terms: { protocol: 'x402_v1' },
    make: makeWeather,
  },
  {
    path: '/mpp/weather',
    description: 'The weather in Lisbon, by MPP',
    terms: { protocol: 'mpp', flow: 'upfront' },
    make: makeWeather,
  },
]

/** Creates the goods of the price list, in both modes. */
export function createGoods(): readonly Resource[] {
  return MODES.flatMap((mode) =>
    GOODS.map(({ path, description, terms, make, extensions = {} }) =>
      createResource(
        { ...BEHAVIOUR_DEFAULT, ...terms, mode, payTo: shopAccount.address },
        { path: prefixOf(mode) + path, description, goods: make, extensions },
      ),
    ),
  )
}

/** Returns the first part of the paths at which the goods of a mode are sold. */
export function prefixOf(mode: Mode): string {
  return mode === 'live' ? '/live' : ''
}

/** Returns the price list of a mode, for programs. */
export function formatPriceList(mode: Mode, goods: readonly Resource[], origin: string): object {
  const priced = goods.filter(({ behaviour }) => behaviour.mode === mode)
  return {
    seller: 'The shop of the sandbox',
    mode,
    goods: priced.map(({ path, description, behaviour }) => ({
      url: origin + path,
      description,
      price_usdc: formatUnits(BigInt(behaviour.amount), USDC_DECIMALS),
      protocol: behaviour.protocol,
    })),
  }
}

/** Returns the price list of a mode, for people. */
export function formatPricePage(mode: Mode, goods: readonly Resource[]): string {
  const rows = goods
    .filter(({ behaviour }) => behaviour.mode === mode)
    .map(({ path, description, behaviour }) => {
      const price = formatUnits(BigInt(behaviour.amount), USDC_DECIMALS)
      return `<tr><td><code>GET ${path}</code><td>${description}<td>${price} USDC<td>${behaviour.protocol}`
    })
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>The shop of the sandbox</title>
<style>body{font:1rem/1.5 system-ui;max-width:48rem;margin:2rem auto;padding:0 1rem}td,th{padding:.25rem 1rem .25rem 0;text-align:left}</style>
<h1>The shop of the sandbox (${mode} mode)</h1>
<p>An agent can buy these goods. Nothing here costs real money.</p>
<table><tr><th>Request<th>Goods<th>Price<th>Protocol${rows.join('')}</table></html>`
}
