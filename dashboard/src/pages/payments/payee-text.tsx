import type { ListedPayment } from '@bursar/server/src/console/contract/payments.ts'
import { RecipientText } from './recipient-text.tsx'

/** Who is paid: for a purchase the host that it was bought from, otherwise the recipient. */
export function PayeeText({ payment: { to, purchase } }: { readonly payment: Pick<ListedPayment, 'to' | 'purchase'> }) {
  if (purchase === null) return <RecipientText address={to} />
  return <bdi title={`${purchase.resource_url} (${to})`}>{purchase.host}</bdi>
}
