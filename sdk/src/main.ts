// What the package exports.
export {
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  PaymentRefusedError,
  PermissionDeniedError,
  RateLimitError,
} from './api-error.ts'
export { Bursar, type BursarOptions } from './bursar.ts'
export {
  AbortedError,
  BursarError,
  ConnectionError,
  IdempotencyMismatchError,
  TimeoutError,
  type Outcome,
} from './errors.ts'
export type { FollowParams } from './events.ts'
export { PurchaseUnansweredError, type FetchOptions, type PaidPurchase, type PaidResponse } from './paid-fetch.ts'
export type { WaitOptions } from './payments.ts'
export type { Result, WithResponse } from './result.ts'
export type { Runtime } from './runtime.ts'
export type { CallOptions, GetToken } from './send.ts'
export type {
  Agent,
  CheckPriceParams,
  CreatePaymentParams,
  Event,
  Identity,
  LedgerEntry,
  ListEventsParams,
  ListLedgerParams,
  ListWalletsParams,
  PaidAnswer,
  Payment,
  PaymentPreview,
  PayParams,
  PriceCheck,
  Purchase,
  ResourceAnswer,
  SignedHeader,
  SignParams,
  Wallet,
} from './types.ts'
export { webhooks, WebhookSignatureError, type VerifyOptions } from './webhooks.ts'
