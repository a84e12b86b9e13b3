const AUTHORIZATION = `-H "Authorization: Bearer $BURSAR_API_KEY"`
const JSON_TYPE = `-H 'Content-Type: application/json'`

/**
 * One command for each operation of `/v1`, by its operation id. The commands of a page run in the order of
 * `openapi.json`, after the sandbox's environment variables are set.
 */
export const EXAMPLES: Readonly<Record<string, string>> = {
  createAgent: post('/v1/agents', `{"id":"reference-agent-'$RANDOM'"}`),
  listAgents: get('/v1/agents'),
  getAgent: get('/v1/agents/$BURSAR_AGENT'),
  createPayment: `PAYMENT=$(${post(
    '/v1/payments',
    `{"agent_id":"'$BURSAR_AGENT'","wallet":"'$BURSAR_WALLET'","to":"0x52908400098527886E0F7030069857D2E4169EE7","amount_usdc":"0.10","memo":"Order 4711","idempotency_key":"order-4711"}`,
  )} | jq -r .payment.id)`,
  previewPayment: post(
    '/v1/payments/preview',
    `{"agent_id":"'$BURSAR_AGENT'","wallet":"'$BURSAR_WALLET'","to":"0x52908400098527886E0F7030069857D2E4169EE7","amount_usdc":"0.10"}`,
  ),
  getPayment: get('/v1/payments/$PAYMENT?wait=45'),
  getPaymentEvidence: `${get('/v1/payments/$PAYMENT/evidence')} > evidence.json`,
  checkPrice: post('/v1/x402/check', `{"url":"'$BURSAR_SELLER_URL'/weather"}`),
  payForResource: post(
    '/v1/x402/pay',
    `{"url":"'$BURSAR_SELLER_URL'/weather","max_amount_usdc":"0.01","agent_id":"'$BURSAR_AGENT'","wallet":"'$BURSAR_WALLET'","idempotency_key":"weather-4711"}`,
  ),
  signForResource: `REQUIRED=$(curl -s -D - -o /dev/null "$BURSAR_SELLER_URL/weather" | tr -d '\\r' | sed -n 's/^payment-required: //Ip')
${post(
  '/v1/x402/sign',
  `{"payment_required":"'$REQUIRED'","resource_url":"'$BURSAR_SELLER_URL'/weather","max_amount_usdc":"0.01","agent_id":"'$BURSAR_AGENT'","wallet":"'$BURSAR_WALLET'","idempotency_key":"signed-4711"}`,
)}`,
  listLedger: get('/v1/ledger?limit=10&type=payment,deposit'),
  listWallets: get('/v1/wallets'),
  getWallet: get('/v1/wallets/$BURSAR_WALLET'),
  getIdentity: get('/v1/me'),
  listEvents: `EVENT=$(${get('/v1/events?limit=10')} | jq -r '.events[0].id')`,
  getEvent: get('/v1/events/$EVENT'),
}

function get(path: string): string {
  return `curl -s "$BURSAR_URL${path}" ${AUTHORIZATION}`
}

function post(path: string, body: string): string {
  return `curl -s "$BURSAR_URL${path}" ${AUTHORIZATION} ${JSON_TYPE} \\\n  -d '${body}'`
}
