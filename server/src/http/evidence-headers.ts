/** The headers of a file with evidence. It must not be stored on the way, because it says who paid whom. */
export function evidenceHeaders(paymentId: string): Readonly<Record<string, string>> {
  return {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Disposition': `attachment; filename="evidence-${paymentId}.json"`,
    'Cache-Control': 'no-store',
  }
}
