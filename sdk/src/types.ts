import type { components, operations } from './api-types.ts'

// The types of the API's objects, parameters and responses. Members are in snake_case, exactly as the API sends them.
// Amounts are decimal strings in USDC, times are ISO 8601 strings in UTC.

type Schemas = components['schemas']
type Success<Name extends keyof operations, Status extends number> = operations[Name] extends {
  responses: Record<Status, { content: { 'application/json': infer Body } }>
}
  ? Body
  : never
type Body<Name extends keyof operations> = operations[Name] extends {
  requestBody: { content: { 'application/json': infer Content } }
}
  ? Content
  : never
type Query<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>
type KeyOptional<Params> = Omit<Params, 'idempotency_key'> & { idempotency_key?: string }

export type Agent = Schemas['Agent']
export type Payment = Schemas['Payment']
export type PaymentPreview = Schemas['PaymentPreview']
export type Purchase = Schemas['Purchase']
export type ResourceAnswer = Schemas['ResourceAnswer']
export type LedgerEntry = Schemas['LedgerEntry']
export type Wallet = Schemas['Wallet']
export type Identity = Schemas['Identity']
export type Event = Schemas['Event']

export type CreatePaymentParams = Body<'createPayment'>
export type CheckPriceParams = Body<'checkPrice'>
export type PayParams = KeyOptional<Body<'payForResource'>>
export type SignParams = KeyOptional<Body<'signForResource'>>
export type ListLedgerParams = Query<'listLedger'>
export type ListEventsParams = Query<'listEvents'>
export type ListWalletsParams = Query<'listWallets'>

/** A payment, and what it bought if its kind is `x402`. */
export type PaymentWithPurchase = Success<'getPayment', 200>
export type PriceCheck = Success<'checkPrice', 200>
/** The seller's response, and the payment. `payment` is null if the resource asked for no payment. */
export type PaidAnswer = Success<'payForResource', 200>
/** The payment header, for a request that you send yourself. */
export type SignedHeader = Success<'signForResource', 201>

export type LedgerPage = Success<'listLedger', 200>
export type EventPage = Success<'listEvents', 200>
export type WalletPage = Success<'listWallets', 200>

type ErrorName = Extract<keyof Schemas, `${string}Error`>
/** Every error that the API documents: its type, its code if it has one, and the details of the code. */
export type ErrorBody = { [Name in ErrorName]: Schemas[Name] }[ErrorName]
