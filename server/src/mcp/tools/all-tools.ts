import type { Tool } from '../tool.ts'
import { CHECK_PRICE } from './check-price.ts'
import { FETCH_PAID } from './fetch-paid.ts'
import { GET_BUDGET } from './get-budget.ts'
import { GET_PAYMENT } from './get-payment.ts'
import { LIST_LEDGER } from './list-ledger.ts'
import { LIST_WALLETS } from './list-wallets.ts'
import { PREVIEW_PAYMENT } from './preview-payment.ts'
import { SEND_PAYMENT } from './send-payment.ts'

/** All tools, in the order in which hosts list them. */
export const TOOLS: readonly Tool[] = [
  GET_BUDGET,
  LIST_WALLETS,
  PREVIEW_PAYMENT,
  SEND_PAYMENT,
  CHECK_PRICE,
  FETCH_PAID,
  GET_PAYMENT,
  LIST_LEDGER,
]
