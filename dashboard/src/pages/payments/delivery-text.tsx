import type { ListedPayment } from '@bursar/server/src/console/contract/payments.ts'

/** Whether the seller delivered a purchase, shown below the purchase's status. Empty if the service does not know. */
export function DeliveryText({ payment: { purchase, status } }: { readonly payment: ListedPayment }) {
  const delivery = purchase?.delivery ?? null
  switch (delivery) {
    case 'delivered':
      return <span className="block text-[0.8125rem] whitespace-nowrap text-muted">Delivered</span>
    case 'failed':
      return <Undelivered isPaid={status === 'confirmed'}>Not delivered</Undelivered>
    case 'unknown':
      return <Undelivered isPaid={status === 'confirmed'}>No response</Undelivered>
    case null:
      return null
  }
}

/** If nothing was paid, a missing delivery is no loss, so only a paid purchase is marked. */
function Undelivered({ isPaid, children }: { readonly isPaid: boolean; readonly children: string }) {
  return (
    <span
      className={`block text-[0.8125rem] whitespace-nowrap ${isPaid ? 'font-semibold text-warning' : 'text-muted'}`}
    >
      {children}
    </span>
  )
}
