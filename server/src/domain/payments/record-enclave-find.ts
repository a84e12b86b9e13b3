import type { Enclave } from '../../enclave/open-enclave.ts'
import type { Context } from '../context.ts'
import { getPayment } from './get-payment.ts'
import type { Payment } from './payment.ts'
import { markAccepted } from './store.ts'

export type EnclaveFind = NonNullable<Awaited<ReturnType<Enclave['findTransfer']>>>

/** Records what a look-up by reference id found: the enclave accepted the payment, with or without a hash yet. */
export async function recordEnclaveFind(
  ctx: Pick<Context, 'db'>,
  { payment, found }: { payment: Payment; found: EnclaveFind },
): Promise<Payment> {
  const accepted = await ctx.db.write(markAccepted(payment, found.transactionId, found.txHash))
  return accepted ?? (await getPayment(ctx, payment))
}
